"""Signed tokens (JWT, RFC 7519; best practices, RFC 8725): header, signature and claims."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from collections.abc import Collection, Iterable, Mapping
from math import isfinite
from typing import Any

from attrs import frozen
from joserfc.errors import JoseError
from joserfc.jws import JWSRegistry, deserialize_compact

from ..domain.errors import BadInput, InvalidToken
from ..serialization import decode

MAX_TOKEN = 16_384
"""Characters of a token. Those of GitHub have about 1,700; groups of a directory of users make others longer."""

MAX_HEADER = 4_096
"""Characters of the encoded header."""

MAX_TRIED = 4
"""Keys with which a signature is compared."""

MAX_SUBJECT = 1_000
"""Characters of the subject."""

LEEWAY = 60.0
"""Seconds by which the clocks of an issuer and of this machine may differ."""

ALGORITHMS = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA"),
    **dict.fromkeys(("ES256", "ES384", "ES512"), "EC"),
}
"""Accepted algorithms and the types of their keys. All are asymmetric."""

_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")


@frozen
class TokenHeader:
    """What the header of a token says: algorithm, id of the key and type, both "" if they are absent."""

    algorithm: str
    kid: str
    kind: str


@frozen
class VerifiedToken:
    """A token whose signature, issuer, audience and times are valid. `kind` is its type in lower case, such as jwt."""

    kind: str
    claims: Mapping[str, Any]

    @property
    def subject(self) -> str:
        """The claim `sub`."""
        return str(self.claims["sub"])


def read_header(token: str) -> TokenHeader:
    """Return the header of a token that is not verified. Raises InvalidToken.

    Members that name a key or a place of keys (jwk, jku, x5c, x5u) are not read.
    """
    if len(token) > MAX_TOKEN:
        raise InvalidToken(f"The token has more than {MAX_TOKEN:,} characters.")
    encoded = token.partition(".")[0]
    if len(encoded) > MAX_HEADER or not _COMPACT.fullmatch(token):
        raise InvalidToken("The token is not a signed JWT in compact form.")
    try:
        header = decode(urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)), what="The header of the token")
    except (ValueError, BadInput):
        header = None
    if not isinstance(header, dict):
        raise InvalidToken("The header of the token is not a JSON object.")
    algorithm, kid, kind = (header.get(name, "") for name in ("alg", "kid", "typ"))
    if not all(isinstance(text, str) for text in (algorithm, kid, kind)):
        raise InvalidToken("The members alg, kid and typ of the header must be strings.")
    if algorithm not in ALGORITHMS:
        raise InvalidToken(f"The algorithm of the token must be one of {', '.join(ALGORITHMS)}.")
    if "crit" in header or "b64" in header:
        raise InvalidToken("The header of the token has extensions that are not supported.")
    return TokenHeader(algorithm, kid, kind.lower().removeprefix("application/"))


def claimed_issuer(token: str) -> str:
    """Return the issuer that a token names, "" if it names none. The token is not verified. Raises InvalidToken."""
    read_header(token)
    encoded = token.split(".")[1]
    try:
        claims = decode(urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)), what="The claims of the token")
    except (ValueError, BadInput):
        raise InvalidToken("The claims of the token are not JSON.") from None
    issuer = claims.get("iss") if isinstance(claims, dict) else None
    return issuer if isinstance(issuer, str) else ""


def required_values(rules: Iterable[str]) -> dict[str, set[str]]:
    """Return the accepted values of each claim that rules such as `groups=staff` name: one of them is enough."""
    required: dict[str, set[str]] = {}
    for rule in rules:
        name, _, value = rule.partition("=")
        required.setdefault(name, set()).add(value)
    return required


def verified_payload(token: str, header: TokenHeader, keys: Iterable[Any]) -> Mapping[str, Any]:
    """Return the claims of a token that one of the first MAX_TRIED `keys` has signed. Raises InvalidToken."""
    registry = JWSRegistry(algorithms=[header.algorithm], strict_check_header=False)
    registry.max_header_length = MAX_HEADER
    for _, key in zip(range(MAX_TRIED), keys, strict=False):
        try:
            signed = deserialize_compact(token, key, registry=registry)
        except (JoseError, ValueError):
            continue
        try:
            claims = decode(signed.payload or b"", what="The claims of the token")
        except BadInput as error:
            raise InvalidToken(error.message) from None
        if not isinstance(claims, dict):
            raise InvalidToken("The claims of the token are not a JSON object.")
        return claims
    raise InvalidToken("The signature of the token is not of a key of its issuer.")


def check_claims(claims: Mapping[str, Any], issuer: str, audiences: Collection[str], now: float) -> None:
    """Raise InvalidToken unless `claims` are of `issuer`, for one of `audiences`, and valid at `now`.

    `now` is in seconds since the epoch.
    """
    if claims.get("iss") != issuer:
        raise InvalidToken(f"The issuer of the token must be {issuer}.")
    named = claims.get("aud")
    named = named if isinstance(named, list) else [named]
    if not any(isinstance(audience, str) and audience in audiences for audience in named):
        raise InvalidToken(f"The audience of the token must be {next(iter(audiences), 'set')}.")
    expires, begins, issued = (_time(claims, name) for name in ("exp", "nbf", "iat"))
    if expires is None:
        raise InvalidToken("The token has no expiry (exp).")
    if expires <= now - LEEWAY:
        raise InvalidToken("The token has expired (exp).")
    if max(begins or 0, issued or 0) > now + LEEWAY:
        raise InvalidToken("The token is not valid yet (nbf, iat).")
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 1 <= len(subject) <= MAX_SUBJECT:
        raise InvalidToken(f"The token has no subject (sub) of 1 to {MAX_SUBJECT:,} characters.")


def _time(claims: Mapping[str, Any], name: str) -> float | None:
    """Return a time in seconds since the epoch, None if it is absent. Raises InvalidToken."""
    value = claims.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value)):
        raise InvalidToken(f"The claim {name} of the token must be a number.")
    return value
