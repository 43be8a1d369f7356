"""Browser sessions and their CSRF tokens."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hmac import compare_digest, digest
from secrets import token_urlsafe

from attrs import frozen

from ...domain.accounts import Account

ANONYMOUS = "."
"""Prefix of the identifiers of anonymous sessions. The identifier of a signed-in session never has it."""


@frozen
class Session:
    """The session of a browser; `account` is None if nobody is signed in.

    `identifier` is a secret that only the cookie holds.
    """

    identifier: str
    account: Account | None

    @classmethod
    def anonymous(cls) -> Session:
        """Return a new anonymous session. It is not stored, or requests without a cookie would fill the disk."""
        return cls(ANONYMOUS + token_urlsafe(32), None)

    @property
    def csrf(self) -> str:
        """The CSRF token of the session's forms. It cannot be computed without the cookie."""
        return urlsafe_b64encode(digest(self.identifier.encode(), b"csrf", "sha256")).rstrip(b"=").decode()

    def has_csrf(self, token: str) -> bool:
        """Return whether `token` is the CSRF token of the session."""
        return compare_digest(token.encode("utf-8", "replace"), self.csrf.encode())
