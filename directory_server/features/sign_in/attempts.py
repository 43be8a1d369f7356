"""A sign-in that is under way, in a cookie of the browser that began it."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hashlib import sha256
from hmac import compare_digest
from urllib.parse import parse_qsl, urlencode

from attrs import field, frozen

from ...domain.keys import new_token
from ...http import Request
from ...http.headers import cookie

LIFETIME = 600
"""Seconds for which a sign-in may take: people find a second factor."""

SECURE, PLAIN = "__Host-sign-in", "sign-in"
"""Names of the cookie with and without TLS; see SessionCookies."""

_LONGEST = 4_000
"""Characters of the cookie. Browsers accept 4,096."""


@frozen
class Attempt:
    """A sign-in with the issuer `issuer` that began at `began` (seconds since the epoch); then the page `back` follows.

    `state` binds the response to the browser, `nonce` the ID token to the attempt, and `verifier` the code to this
    server (PKCE, RFC 7636).
    """

    issuer: str
    back: str
    began: float
    state: str = field(factory=new_token, repr=False)
    nonce: str = field(factory=new_token, repr=False)
    verifier: str = field(factory=new_token, repr=False)

    @property
    def challenge(self) -> str:
        """The challenge of the verifier (S256)."""
        return urlsafe_b64encode(sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()

    def is_answered_by(self, issuer: str, state: str, now: float) -> bool:
        """Return whether a response of `issuer` with `state` belongs to this attempt, and is in time at `now`."""
        given = state.encode("utf-8", "replace")
        is_same = self.issuer == issuer and compare_digest(self.state.encode("utf-8", "replace"), given)
        return is_same and abs(now - self.began) <= LIFETIME

    def set(self, request: Request, *, secure: bool) -> None:
        """Set the cookie."""
        values = (self.issuer, self.back, repr(self.began), self.state, self.nonce, self.verifier)
        text = urlencode(dict(zip("ibtsnv", values, strict=True)))
        request.add_cookie(SECURE if secure else PLAIN, text, max_age=LIFETIME, secure=secure)


def read_attempt(request: Request, *, secure: bool) -> Attempt | None:
    """Return the attempt in the cookie of a request, None if there is none or it is malformed."""
    text = cookie(request, SECURE if secure else PLAIN) or ""
    try:
        values = dict(parse_qsl(text[:_LONGEST], strict_parsing=True, max_num_fields=6, errors="strict"))
        issuer, back, began, state, nonce, verifier = (values[name] for name in "ibtsnv")
        return Attempt(issuer, back, float(began), state, nonce, verifier)
    except (KeyError, ValueError):
        return None


def delete_attempt(request: Request, *, secure: bool) -> None:
    request.add_cookie(SECURE if secure else PLAIN, "", max_age=0, secure=secure)
