"""An issuer of tests: its keys, its documents, and the tokens that it signs."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import Any

from attrs import define, field
from joserfc import jws
from joserfc.jwk import ECKey, RSAKey
from twisted.internet.defer import Deferred

from directory_server.http_client import BadResponse

URL = "https://issuer.example"

NOW = 1_800_000_000.0

AUDIENCE = "https://directory.example"

Key = RSAKey | ECKey


def rsa_key(kid: str = "one") -> RSAKey:
    return RSAKey.generate_key(2_048, {"kid": kid})


def claims_of(issuer: str = URL, now: float = NOW, **changes: Any) -> dict[str, Any]:
    """Return valid claims with `changes`; None removes one."""
    claims = {"iss": issuer, "aud": AUDIENCE, "sub": "repo:acme/x", "iat": now, "nbf": now, "exp": now + 300}
    return {name: value for name, value in {**claims, **changes}.items() if value is not None}


def signed(key: Key, claims: Any, algorithm: str = "RS256", **header: Any) -> str:
    """Return a token. `header` is added to its header."""
    names = {"alg": algorithm, "typ": "JWT", **({"kid": key.kid} if key.kid else {}), **header}
    registry = jws.JWSRegistry(algorithms=[algorithm], strict_check_header=False)
    registry.max_payload_length = 10_000_000
    return jws.serialize_compact(names, json.dumps(claims), key, registry=registry)


def unsigned(header: Any, claims: Any, signature: bytes = b"x") -> str:
    parts = (json.dumps(header).encode(), json.dumps(claims).encode(), signature)
    return ".".join(urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


@define(eq=False)
class Documents:
    """Documents of an issuer in memory. `error` fails all, `is_held` keeps requests waiting until `release`."""

    keys: list[Key] = field(factory=list)
    url: str = URL
    error: str = ""
    is_held: bool = False
    key_set: Any = None
    metadata: dict[str, Any] = field(factory=dict)
    requested: list[str] = field(factory=list)
    held: list[Deferred[None]] = field(factory=list)

    async def get(self, url: str, *, max_bytes: int, deadline: float) -> bytes:
        self.requested.append(url)
        if self.is_held:
            waiting: Deferred[None] = Deferred()
            self.held.append(waiting)
            await waiting
        if self.error:
            raise BadResponse(self.error)
        return json.dumps(self.document(url)).encode()

    def document(self, url: str) -> Mapping[str, Any]:
        if url.endswith("/.well-known/openid-configuration"):
            return {"issuer": self.url, "jwks_uri": f"{self.url}/keys", **self.metadata}
        if self.key_set is not None:
            return {"keys": self.key_set}
        return {"keys": [{**key.as_dict(private=False), "use": "sig"} for key in self.keys]}

    def release(self) -> None:
        self.is_held = False
        for waiting in self.held:
            waiting.callback(None)
