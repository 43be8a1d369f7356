"""What the logins of publishers read over the network, in memory, and the requests of `mcp-publisher`."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from attrs import define, field, frozen
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP384R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA384
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from directory_server.domain.errors import InvalidToken
from directory_server.features.publishing.login_methods import LoginNetwork

from ...issuers.signing import Documents, rsa_key

GITHUB = "https://token.actions.githubusercontent.com"

GITLAB = "https://gitlab.example"


@define(eq=False)
class Texts:
    """The texts of domains, or what `waits` returns."""

    texts: dict[str, list[str]] = field(factory=dict)
    asked: list[str] = field(factory=list)
    waits: Callable[[str], Awaitable[Sequence[str]]] | None = None

    async def __call__(self, domain: str) -> Sequence[str]:
        self.asked.append(domain)
        if self.waits is not None:
            return await self.waits(domain)
        if domain not in self.texts:
            raise InvalidToken(f"The DNS of {domain} gave no TXT record.", code="invalid_proof")
        return self.texts[domain]


issuer_key = cache(rsa_key)
"""Return the key of all issuers. A new one for each server would take half of the time of most tests."""


@define(eq=False)
class Issuers:
    """The documents of all issuers, which have one key."""

    key: Any = field(factory=issuer_key)
    error: str = ""

    async def get(self, url: str, *, max_bytes: int, deadline: float) -> bytes:
        issuer = Documents([self.key], url="/".join(url.split("/")[:3]), error=self.error)
        return await issuer.get(url, max_bytes=max_bytes, deadline=deadline)


@frozen
class FakeLogins:
    """The network of logins."""

    issuers: Issuers = field(factory=Issuers)
    records: Texts = field(factory=Texts)
    files: Texts = field(factory=Texts)

    def network(self) -> LoginNetwork:
        return LoginNetwork(self.issuers, self.records, self.files)


@frozen
class DomainKey:
    """A key of a domain."""

    key: Ed25519PrivateKey | EllipticCurvePrivateKey

    @property
    def text(self) -> str:
        """The text that the domain names."""
        public = self.key.public_key()
        if isinstance(self.key, Ed25519PrivateKey):
            return f"v=MCPv1; k=ed25519; p={b64encode(public.public_bytes_raw()).decode()}"  # type: ignore[union-attr]
        encoded = public.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
        return f"v=MCPv1; k=ecdsap384; p={b64encode(encoded).decode()}"

    def sign(self, timestamp: str) -> str:
        if isinstance(self.key, Ed25519PrivateKey):
            return self.key.sign(timestamp.encode()).hex()
        numbers = decode_dss_signature(self.key.sign(timestamp.encode(), ECDSA(SHA384())))
        return "".join(number.to_bytes(48, "big").hex() for number in numbers)

    def login(self, domain: str, now: float) -> dict[str, str]:
        """Return the body of the request of `mcp-publisher login dns` and `login http`."""
        timestamp = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return {"domain": domain, "timestamp": timestamp, "signed_timestamp": self.sign(timestamp)}


def ed25519() -> DomainKey:
    return DomainKey(Ed25519PrivateKey.generate())


def p384() -> DomainKey:
    return DomainKey(generate_private_key(SECP384R1()))
