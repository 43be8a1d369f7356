"""Browser sessions: the identifier, the CSRF token and the cookie."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hmac import compare_digest, digest
from secrets import token_urlsafe

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from ...domain.accounts import Account, session_id
from ...domain.keys import Client
from ...http import Request
from ...http.headers import cookie
from ...http.headers import value as header
from ...http.proxies import Proxies
from ...services.accounts import AccountService
from ..key_uses import client_name

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
    def id(self) -> str:
        """The id of the session in the list of sessions. It is not secret."""
        return session_id(self.identifier)

    @property
    def csrf(self) -> str:
        """The CSRF token of the session's forms. It cannot be computed without the cookie."""
        return urlsafe_b64encode(digest(self.identifier.encode(), b"csrf", "sha256")).rstrip(b"=").decode()

    def has_csrf(self, token: str) -> bool:
        return compare_digest(token.encode("utf-8", "replace"), self.csrf.encode())


SECURE = "__Host-session"
"""Cookie name under TLS. Browsers restrict it to this host and the path / (RFC 6265bis, section 4.1.3.2)."""

PLAIN = "session"
"""Cookie name without TLS, where browsers reject the prefix __Host-."""


@frozen
class SessionCookies:
    """Reads and sets the session cookie; `_max_age` is its lifetime in seconds.

    Klein's sessions support neither SameSite nor proxies that terminate TLS.
    """

    _log = Logger()

    _accounts: AccountService
    _proxies: Proxies
    _max_age: float

    async def load(self, request: Request) -> Session | None:
        """Return the session of a request, or None if it has no cookie or its session is unknown or has ended."""
        secure = self._proxies.is_secure(request)
        if not secure and (leaked := cookie(request, SECURE)):
            self._end_leaked(leaked)
        identifier = cookie(request, SECURE if secure else PLAIN)
        if not identifier:
            return None
        if identifier.startswith(ANONYMOUS):
            return Session(identifier, None)
        account = await self._accounts.signed_in(identifier, self.client(request))
        return None if account is None else Session(identifier, account)

    def is_present(self, request: Request) -> bool:
        """Return whether a request has the cookie of a sign-in, whose session may have ended."""
        identifier = cookie(request, SECURE if self._proxies.is_secure(request) else PLAIN) or ""
        return bool(identifier) and not identifier.startswith(ANONYMOUS)

    async def load_or_create(self, request: Request) -> Session:
        """Return the session of a request; without one, create an anonymous session and set its cookie."""
        session = await self.load(request)
        if session is None:
            session = Session.anonymous()
            self.set(request, session.identifier)
        return session

    async def account(self, request: Request) -> Account | None:
        """Return the signed-in account of a request, or None."""
        session = await self.load(request)
        return None if session is None else session.account

    def client(self, request: Request) -> Client:
        """Return the network of the client's address and the name of its browser."""
        return Client(self._proxies.network(request), client_name(header(request, "User-Agent")))

    def is_secure(self, request: Request) -> bool:
        """Return whether the cookies of a request are for TLS only."""
        return self._proxies.is_secure(request)

    def set(self, request: Request, identifier: str, *, max_age: float | None = None) -> None:
        """Set the cookie for the lifetime of a session, or for `max_age` seconds; 0 deletes it."""
        secure = self._proxies.is_secure(request)
        request.add_cookie(
            SECURE if secure else PLAIN,
            identifier,
            max_age=int(self._max_age if max_age is None else max_age),
            secure=secure,
        )

    def _end_leaked(self, identifier: str) -> None:
        """End a session that was created under TLS and whose cookie was sent without TLS."""
        Deferred.fromCoroutine(self._accounts.sign_out(identifier)).addErrback(
            lambda failure: self._log.failure("Cannot end a session whose cookie was sent without TLS", failure=failure)
        )
