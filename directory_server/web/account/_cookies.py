"""The cookie that tells who visits a page."""

from __future__ import annotations

from typing import cast

from attrs import frozen
from klein.interfaces import ISessionProcurer, NoSuchSession, SessionMechanism
from twisted.internet.defer import Deferred
from twisted.web.iweb import IRequest
from zope.interface import implementer

from ...domain.accounts import Account
from ...http import Request
from ...http.headers import cookie
from ...http.proxies import Proxies
from ._session import SessionStore, Visitor

SECURE = "__Host-session"
"""The cookie under TLS: browsers take it from this host alone, and for all of it (RFC 6265bis, section 4.1.3.2)."""

PLAIN = "session"
"""The cookie without TLS, where browsers refuse the other."""


@implementer(ISessionProcurer)
@frozen
class Cookies:
    """Reads and sets the cookie; a session lasts for at most `_longest` seconds.

    Klein's own procurer knows neither SameSite nor proxies that end TLS.
    """

    _store: SessionStore
    _proxies: Proxies
    _longest: float

    def procureSession(self, request: IRequest, forceInsecure: bool = False) -> Deferred[Visitor]:
        """Return who sent a request; one who is new is given a cookie, so that forms can be bound to it."""
        return Deferred.fromCoroutine(self._procure(cast(Request, request)))

    async def visitor(self, request: Request) -> Visitor | None:
        """Return who sent a request, None for one without a cookie that is good."""
        secure = self._proxies.is_secure(request)
        if not secure and (leaked := cookie(request, SECURE)):
            self._store.sentInsecurely([leaked])
        sent = cookie(request, SECURE if secure else PLAIN)
        try:
            return await self._store.loadSession(sent, secure, SessionMechanism.Cookie) if sent else None
        except NoSuchSession:
            return None

    async def account(self, request: Request) -> Account | None:
        """Return whose session a request belongs to, None where there is none."""
        visitor = await self.visitor(request)
        return None if visitor is None else visitor.account

    def give(self, request: Request, identifier: str, *, longest: float | None = None) -> None:
        """Set the cookie, for the time that a session lasts, or for `longest` seconds: 0 to take it away."""
        secure = self._proxies.is_secure(request)
        lifetime = self._longest if longest is None else longest
        request.addCookie(
            SECURE if secure else PLAIN,
            identifier,
            path="/",
            max_age=str(int(lifetime)),
            secure=secure,
            httpOnly=True,
            sameSite="lax",
        )

    async def _procure(self, request: Request) -> Visitor:
        visitor = await self.visitor(request)
        if visitor is None:
            secure = self._proxies.is_secure(request)
            visitor = await self._store.newSession(secure, SessionMechanism.Cookie)
            self.give(request, visitor.identifier)
        return visitor
