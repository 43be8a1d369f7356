"""Public keys of an issuer (JSON Web Key Set, RFC 7517)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, RSAKey

from ..http_client import BadResponse
from ..serialization import decode
from ._tokens import ALGORITHMS, TokenHeader

MAX_KEYS = 100
"""Keys of a set. GitHub publishes about 5, the largest public issuers about 10."""

RSA_BITS = range(2_048, 8_193)
"""Sizes of the modulus of an RSA key."""

_MEMBERS = ("kty", "n", "e", "crv", "x", "y")
"""The public members of keys that verify. Secret ones, certificates and their URLs are not read."""

_MAX_EXPONENT = 8
"""Characters of an RSA exponent: 48 bits. OpenSSL takes milliseconds for a signature with a long one."""


@frozen
class VerificationKey:
    """A public key, its id ("" without one), and the algorithm that it is for ("" for each of its type)."""

    key: RSAKey | ECKey
    kid: str
    algorithm: str

    def fits(self, header: TokenHeader) -> bool:
        """Return whether the key may have signed a token with `header`. A token without key id fits each key."""
        return (
            (not header.kid or self.kid == header.kid)
            and self.algorithm in ("", header.algorithm)
            and self.key.key_type == ALGORITHMS[header.algorithm]
        )


def keys_of(body: bytes) -> Sequence[VerificationKey]:
    """Return the keys of a set that verify signatures. Keys of unknown types are skipped. Raises BadResponse."""
    document = decode(body, what="Its key set")
    members = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(members, list) or len(members) > MAX_KEYS:
        raise BadResponse(f"Its key set has no array of at most {MAX_KEYS} keys.")
    keys = [key for member in members if isinstance(member, dict) and (key := _key(member)) is not None]
    if not keys:
        raise BadResponse("Its key set has no key that verifies signatures.")
    return keys


def _key(member: Mapping[str, Any]) -> VerificationKey | None:
    kid, algorithm = member.get("kid", ""), member.get("alg", "")
    values = {name: member[name] for name in _MEMBERS if name in member}
    if (
        member.get("use", "sig") != "sig"
        or not all(isinstance(value, str) for value in (kid, algorithm, *values.values()))
        or values.get("kty") not in set(ALGORITHMS.values())
        or len(values.get("e", "")) > _MAX_EXPONENT
    ):
        return None
    try:
        with warnings.catch_warnings():
            # A short RSA key is skipped below.
            warnings.simplefilter("ignore")
            key = JWKRegistry.import_key(values)
    except (JoseError, ValueError, TypeError):
        return None
    if isinstance(key, RSAKey) and key.public_key.key_size not in RSA_BITS:
        return None
    return VerificationKey(key, kid, algorithm) if isinstance(key, RSAKey | ECKey) else None
