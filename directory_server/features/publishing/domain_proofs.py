"""Proofs of a domain: a signed timestamp, and the public keys that the domain names.

A key is in a TXT record of the domain, or in a file on its web server: `v=MCPv1; k=ed25519; p=<key in base64>`.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import islice
from typing import Any

from attrs import frozen
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP384R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA384

from ...domain.errors import InvalidServer, InvalidToken
from ...domain.shapes import Object, Text
from ...domain.versions import epoch
from .tokens import WINDOW

MAX_KEYS = 5
"""Keys of a domain that are compared. A signature by P-384 takes 1 ms."""

MAX_TEXTS = 100
"""Records of a domain that are read."""

_KEY = re.compile(r"v=MCPv1;\s{0,10}k=([^;\s]{1,20});\s{0,10}p=([A-Za-z0-9+/=]{1,100})")

_HALF = 48
"""Bytes of each of both numbers in a signature by P-384."""


_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"

_LOGIN = Object(
    {
        # The last label has a letter first: an address is no domain.
        "domain": Text(190, 3, re.compile(rf"(?:{_LABEL}\.)+(?![0-9]){_LABEL}"), "a domain such as example.com"),
        "timestamp": Text(
            40,
            20,
            re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)", re.ASCII),
            "a time such as 2026-01-31T12:00:00Z (RFC 3339)",
        ),
        "signed_timestamp": Text(
            192,
            128,
            re.compile(r"[0-9A-Fa-f]{128}|[0-9A-Fa-f]{192}"),
            "a signature in hexadecimal: 64 bytes of Ed25519, or 96 bytes of ECDSA P-384",
        ),
    },
    ["domain", "timestamp", "signed_timestamp"],
)


@frozen
class DomainProof:
    """A signed timestamp. `domain` is in lower case."""

    domain: str
    timestamp: str
    signature: bytes

    @property
    def namespace(self) -> str:
        """The domain in reverse order."""
        return ".".join(reversed(self.domain.split(".")))


@frozen
class PublicKey:
    """A key of a domain. `encoded` are its bytes."""

    algorithm: str
    encoded: bytes
    _key: Ed25519PublicKey | EllipticCurvePublicKey

    @property
    def fingerprint(self) -> str:
        """The beginning of the key, for messages."""
        return f"{self.algorithm}:{b64encode(self.encoded).decode()[:8]}"

    def has_signed(self, proof: DomainProof) -> bool:
        """Return whether the key has signed the timestamp."""
        message, signature = proof.timestamp.encode(), proof.signature
        try:
            if isinstance(self._key, Ed25519PublicKey):
                self._key.verify(signature, message)
            elif len(signature) != 2 * _HALF:
                return False
            else:
                numbers = (int.from_bytes(part, "big") for part in (signature[:_HALF], signature[_HALF:]))
                self._key.verify(encode_dss_signature(*numbers), message, ECDSA(SHA384()))
        except (InvalidSignature, ValueError):
            return False
        return True

    def use_of(self, proof: DomainProof) -> bytes:
        """Return a digest of the key and the timestamp: a proof is good for one login.

        The signature is not a part of it, because ECDSA has many of the same timestamp. Neither is the domain, because
        the signature does not name it.
        """
        return sha256(self.encoded + b"\0" + proof.timestamp.encode()).digest()


def domain_proof(body: Any) -> DomainProof:
    """Return the proof in the request of `mcp-publisher login dns` or `login http`. Raises InvalidServer."""
    if issues := _LOGIN(body, ""):
        raise InvalidServer(issues)
    return DomainProof(body["domain"].lower(), body["timestamp"], bytes.fromhex(body["signed_timestamp"]))


def check_time(proof: DomainProof, now: float) -> None:
    """Raise InvalidToken unless the timestamp is within WINDOW of `now`, in seconds since the epoch."""
    moment = epoch(proof.timestamp)
    if moment is None or abs(moment - now) > WINDOW:
        raise InvalidToken(
            f"The timestamp must be within {WINDOW:g} seconds of the time of the server. Check the clock.",
            code="invalid_proof",
        )


def public_keys(texts: Iterable[str]) -> Sequence[PublicKey]:
    """Return the keys in records, at most MAX_KEYS. Others are skipped. Raises InvalidToken if there are none."""
    found = (match for text in islice(texts, MAX_TEXTS) for match in _KEY.finditer(text))
    keys = [key for match in islice(found, MAX_KEYS) if (key := _public_key(match[1], match[2])) is not None]
    if not keys:
        raise InvalidToken(
            "The domain names no key of the form v=MCPv1; k=ed25519; p=<base64>, or k=ecdsap384.", code="invalid_proof"
        )
    return keys


def signing_key(proof: DomainProof, keys: Sequence[PublicKey]) -> PublicKey:
    """Return the key that has signed `proof`. Raises InvalidToken."""
    for key in keys:
        if key.has_signed(proof):
            return key
    tried = ", ".join(key.fingerprint for key in keys)
    raise InvalidToken(f"The signature is not of a key that the domain names: {tried}.", code="invalid_proof")


def _public_key(algorithm: str, text: str) -> PublicKey | None:
    try:
        encoded = b64decode(text, validate=True)
        if algorithm == "ed25519":
            return PublicKey(algorithm, encoded, Ed25519PublicKey.from_public_bytes(encoded))
        # The compressed form of a point.
        if algorithm == "ecdsap384" and len(encoded) == _HALF + 1:
            return PublicKey(algorithm, encoded, EllipticCurvePublicKey.from_encoded_point(SECP384R1(), encoded))
    except ValueError:
        return None
    return None
