"""Who visits a page: Klein's sessions on our own."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterable, Sequence
from hmac import compare_digest, digest
from secrets import token_urlsafe

from attrs import frozen
from klein.interfaces import ISession, ISessionStore, NoSuchSession, SessionMechanism
from twisted.internet.defer import Deferred, succeed
from twisted.logger import Logger
from zope.interface import Attribute, Interface, implementer

from ...domain.accounts import Account
from ...services.accounts import AccountService

NOBODYS = "."
"""Begins the identifier of somebody who is not signed in; no session's secret has it."""


class IMember(Interface):
    """What a session is asked for that belongs to somebody."""

    email = Attribute("The address of the account.")


@implementer(ISession)
@frozen
class Visitor:
    """Somebody at a page; `account` is None for one who is not signed in.

    `identifier` is the secret that only the cookie holds.
    """

    identifier: str
    isConfidential: bool
    authenticatedBy: SessionMechanism
    account: Account | None

    def authorize(self, interfaces: Iterable[type[Interface]]) -> Deferred[dict[type[Interface], Account]]:
        """Return the account, where that is asked for and there is one."""
        account = self.account
        return succeed({each: account for each in interfaces if each is IMember and account is not None})

    @property
    def csrf(self) -> str:
        """What each form on a page for this visitor has in it, which nobody can tell without the cookie."""
        return urlsafe_b64encode(digest(self.identifier.encode(), b"csrf", "sha256")).rstrip(b"=").decode()

    def sent(self, csrf: str) -> bool:
        """Tell whether a form that holds `csrf` was made for this visitor."""
        return compare_digest(csrf.encode("utf-8", "replace"), self.csrf.encode())


@implementer(ISessionStore)
@frozen
class SessionStore:
    """The sessions of members, and of those who are not: of these nothing is kept, or pages would fill the disk."""

    _log = Logger()

    _membership: AccountService

    def newSession(self, isConfidential: bool, authenticatedBy: SessionMechanism) -> Deferred[Visitor]:
        """Return one who is not signed in, with an identifier that forms can be bound to."""
        return succeed(Visitor(NOBODYS + token_urlsafe(32), isConfidential, authenticatedBy, None))

    def loadSession(
        self, identifier: str, isConfidential: bool, authenticatedBy: SessionMechanism
    ) -> Deferred[Visitor]:
        """Return whose identifier it is; NoSuchSession for one that was never given out, or has ended."""
        if identifier.startswith(NOBODYS):
            return succeed(Visitor(identifier, isConfidential, authenticatedBy, None))
        return Deferred.fromCoroutine(self._load(identifier, isConfidential, authenticatedBy))

    def sentInsecurely(self, identifiers: Sequence[str]) -> None:
        """End sessions whose secrets were sent in the clear, though they were given out under TLS."""
        for identifier in identifiers:
            Deferred.fromCoroutine(self._membership.sign_out(identifier)).addErrback(
                lambda failure: self._log.failure("A session that leaked could not be ended", failure=failure)
            )

    async def _load(self, identifier: str, confidential: bool, mechanism: SessionMechanism) -> Visitor:
        account = await self._membership.signed_in(identifier)
        if account is None:
            raise NoSuchSession("This session is unknown or has ended.")
        return Visitor(identifier, confidential, mechanism, account)
