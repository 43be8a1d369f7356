"""Certificates for localhost, created by the tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from attrs import frozen
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


@frozen
class Holder:
    """A private key and its certificate."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def private_pem(self) -> bytes:
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)


def holder(name: str, by: Holder | None = None, *, authority: bool = False) -> Holder:
    """Return a new key with a certificate for `name`, signed `by` another holder or by itself."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    extensions: list[Any] = [
        x509.BasicConstraints(ca=authority, path_length=None),
        x509.SubjectAlternativeName([x509.DNSName(name)]),
    ]
    builder = x509.CertificateBuilder(
        by.certificate.subject if by else subject,
        subject,
        key.public_key(),
        x509.random_serial_number(),
        now - timedelta(1),
        now + timedelta(1),
    )
    for each in extensions:
        builder = builder.add_extension(each, critical=False)
    return Holder(key, builder.sign(by.key if by else key, hashes.SHA256()))


def certificate(folder: Path) -> Path:
    """Write a key and a certificate for localhost, and return their file."""
    issued = holder("localhost")
    file = folder / "localhost.pem"
    file.write_bytes(issued.private_pem + issued.pem)
    return file
