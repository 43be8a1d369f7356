"""Sign-in, sign-out, registration, passwords, and the deletion of unused accounts."""

from __future__ import annotations

from collections.abc import Callable
from unicodedata import normalize

from attrs import define, frozen
from twisted.logger import Logger

from ..domain.accounts import Account
from ..domain.errors import BadInput, NotFound, SignInRefused, Unavailable
from ..domain.ports.access import Quota
from ..domain.ports.accounts import Accounts, Passwords, Sessions

SHORTEST, LONGEST = 12, 200
"""Length limits of a password in characters (NIST SP 800-63B-4, section 3.1.1.2)."""


@frozen
class AccountService:
    """Authenticate people by passwords. Each successful method starts a session and returns its secret.

    `client` identifies the client for fair queueing of password hashing, which is slow. At most `most_pending`
    self-registered accounts may wait for approval.
    """

    _accounts: Accounts
    _sessions: Sessions
    _passwords: Passwords
    _most_pending: int = 1_000

    async def signed_in(self, session: str) -> Account | None:
        """Return the account of a session, None if the session is unknown or ended."""
        return await self._sessions.find(session)

    async def sign_in(self, email: str, password: str, client: str = "") -> str:
        """Start a session. Raises SignInRefused, after the same time for an unknown address as for a wrong password."""
        account = await self._accounts.find(email)
        account_id = account.id if account else ""
        hashed = await self._accounts.password(account_id)
        verified = await self._passwords.verify(hashed, _normalized(password)[:LONGEST], client=client)
        # The password may have changed meanwhile; a session for the old one must not start.
        if not verified or hashed != await self._accounts.password(account_id):
            raise SignInRefused
        return await self._sessions.open(account_id)

    async def sign_out(self, session: str) -> None:
        """End a session."""
        await self._sessions.close(session)

    async def linked_account(self, token: str) -> Account:
        """Return the account of a link, without using the link. Raises NotFound."""
        account = await self._accounts.linked(token)
        if account is None:
            raise NotFound("This link is unknown, used or expired. Ask for a new one.", code="link_unknown")
        return account

    async def accept(self, token: str, password: str, client: str = "") -> str:
        """Set the password by a link and start a session. Raises NotFound, and BadInput for the password."""
        checked = _checked(password, (await self.linked_account(token)).email)
        account = await self._accounts.redeem(token, await self._passwords.hash(checked, client=client))
        return await self._sessions.open(account.id)

    def check_password(self, email: str, password: str) -> None:
        """Raise BadInput if `password` is not allowed for an account with the address `email`."""
        _checked(password, email)

    async def register(self, email: str, password: str, client: str = "") -> str:
        """Create a pending account and start a session.

        Raises BadInput for the address or the password, and TooManyAccounts.
        """
        hashed = await self._passwords.hash(_checked(password, email), client=client)
        account = await self._accounts.register(email, hashed, most=self._most_pending)
        return await self._sessions.open(account.id)

    async def change_password(self, account: Account, old: str, new: str, client: str = "") -> str:
        """Change a password, end all sessions of the account and start a new one.

        Raises SignInRefused for `old`, BadInput for `new`.
        """
        checked = _checked(new, account.email)
        hashed = await self._accounts.password(account.id)
        if not await self._passwords.verify(hashed, _normalized(old)[:LONGEST], client=client):
            raise SignInRefused
        await self._accounts.set_password(account.id, await self._passwords.hash(checked, client=client))
        return await self._sessions.open(account.id)


def _normalized(password: str) -> str:
    """Return a password in Unicode form NFKC (NIST SP 800-63B-4, section 3.1.1.2)."""
    return normalize("NFKC", password)


def _checked(password: str, email: str) -> str:
    """Return a new password in the form that is hashed. Raises BadInput if it is not allowed."""
    checked = _normalized(password)
    if not SHORTEST <= len(checked) <= LONGEST or checked.lower() == email.strip().lower():
        raise BadInput(
            f"password: must be {SHORTEST} to {LONGEST} characters, and not the e-mail address.", code="password_wrong"
        )
    return checked


AT_ONCE = 20
"""The most accounts that one call of `remove` checks."""


@define(eq=False)
class UnusedAccounts:
    """Deletes accounts that are not approved and were not used for `lifetime` seconds.

    An account is used when its owner opens a page while signed in, and when a request is charged to its shared quota.
    """

    _log = Logger()

    _accounts: Accounts
    _quota: Quota
    _now: Callable[[], float]
    _lifetime: float
    _after: str = ""

    async def remove(self) -> None:
        """Delete the unused accounts among the next AT_ONCE; the next call continues after these.

        If the database is unavailable, log it and leave the work to the next call.
        """
        try:
            await self._remove()
        except Unavailable as error:
            self._log.warn("Unused accounts cannot be deleted: {reason}", reason=error.message)

    async def _remove(self) -> None:
        before = self._now() - self._lifetime
        found = await self._accounts.unused(before, after=self._after, limit=AT_ONCE)
        self._after = found[-1].id if len(found) == AT_ONCE else ""
        removed = 0
        for each in found:
            spent_at = await self._quota.last(each.id)
            if spent_at is None or spent_at <= before:
                removed += await self._accounts.remove(each.id, before=before)
        if removed:
            self._log.info("Deleted {count} unused accounts that were not approved", count=removed)
