"""Sign-in, sign-out, registration, passwords, and the deletion of unused accounts."""

from __future__ import annotations

from collections.abc import Callable
from unicodedata import normalize

from attrs import define, frozen
from twisted.logger import Logger

from ..domain.accounts import Account, unknown_link
from ..domain.errors import BadInput, NotFound, PasswordRefused, SignInRefused
from ..domain.keys import UNKNOWN, Client
from ..domain.ports.access import Passwords, Quota
from ..tables import StoredAccounts, StoredRoster, StoredSessions
from ..texts.wording import counted

SHORTEST, LONGEST = 12, 200
"""Length limits of a password in characters (NIST SP 800-63B-4, section 3.1.1.2)."""


@frozen
class AccountService:
    """Authenticate people by passwords. Each successful method starts a session and returns its secret.

    The network of `client` identifies the client for fair queueing of password hashing, which is slow. At most
    `most_pending` self-registered accounts may wait for approval. The client is stored with a session if
    `records_clients`. Nobody can sign in with a password unless `has_passwords`; links then start a session only.
    """

    _accounts: StoredAccounts
    _sessions: StoredSessions
    _passwords: Passwords
    _most_pending: int = 1_000
    records_clients: bool = True
    has_passwords: bool = True

    async def signed_in(self, session: str, client: Client = UNKNOWN) -> Account | None:
        """Return the account of a session, None if the session is unknown or ended."""
        return await self._sessions.find(session, self._recorded(client))

    async def sign_in(self, email: str, password: str, client: Client = UNKNOWN) -> str:
        """Start a session. Raises SignInRefused, after the same time for an unknown address as for a wrong password.

        Raises NotFound if there are no passwords.
        """
        self._check_passwords()
        account = await self._accounts.find(email)
        account_id = account.id if account else ""
        hashed = await self._accounts.password(account_id)
        verified = await self._verify(hashed, password, client)
        # The password may have changed meanwhile; a session for the old one must not start.
        if not verified or hashed != await self._accounts.password(account_id):
            raise SignInRefused
        return await self._open(account_id, client)

    async def sign_out(self, session: str) -> None:
        await self._sessions.close(session)

    async def linked_account(self, token: str) -> Account:
        """Return the account of a link, without using the link. Raises NotFound."""
        account = await self._accounts.linked(token)
        if account is None:
            raise unknown_link()
        return account

    async def accept(self, token: str, password: str, client: Client = UNKNOWN) -> str:
        """Set the password by a link and start a session. Raises NotFound, and BadInput for the password.

        If there are no passwords, `password` is ignored.
        """
        email, hashed = (await self.linked_account(token)).email, None
        if self.has_passwords:
            hashed = await self._passwords.hash(_checked(password, email), client=client.network)
        account = await self._accounts.redeem(token, hashed)
        return await self._open(account.id, client)

    def check_password(self, email: str, password: str) -> None:
        """Raise BadInput if `password` is not allowed for an account with the address `email`."""
        _checked(password, email)

    async def register(self, email: str, password: str, client: Client = UNKNOWN, text: str = "") -> str:
        """Create a pending account, with a text for operators, and start a session.

        Raises BadInput for a wrong value, TooManyAccounts, and NotFound if there are no passwords.
        """
        self._check_passwords()
        hashed = await self._passwords.hash(_checked(password, email), client=client.network)
        account = await self._accounts.register(email, hashed, most=self._most_pending, text=text)
        return await self._open(account.id, client)

    async def change_password(self, account: Account, old: str, new: str, client: Client = UNKNOWN) -> str:
        """Change a password, end all sessions of the account and start a new one.

        Raises PasswordRefused for `old`, BadInput for `new`, and NotFound if there are no passwords.
        """
        self._check_passwords()
        checked = _checked(new, account.email)
        if not await self._verify(await self._accounts.password(account.id), old, client):
            raise PasswordRefused
        await self._accounts.set_password(account.id, await self._passwords.hash(checked, client=client.network))
        return await self._open(account.id, client)

    async def delete(self, account: Account, password: str, client: Client = UNKNOWN) -> None:
        """Delete an account with its sessions and keys, effective immediately.

        Raises PasswordRefused for the `password` of an account that has one.
        """
        hashed = await self._accounts.password(account.id) if self.has_passwords else None
        if hashed is not None and not await self._verify(hashed, password, client):
            raise PasswordRefused
        await self._accounts.delete(account.id)

    async def has_password(self, account: Account) -> bool:
        """Return whether an account has a password that can be used."""
        return self.has_passwords and await self._accounts.password(account.id) is not None

    def _check_passwords(self) -> None:
        if not self.has_passwords:
            raise NotFound("Passwords are turned off. Sign in another way.", code="passwords_off")

    async def _verify(self, hashed: str | None, password: str, client: Client) -> bool:
        return await self._passwords.verify(hashed, _normalized(password)[:LONGEST], client=client.network)

    async def _open(self, account_id: str, client: Client) -> str:
        return await self._sessions.open(account_id, self._recorded(client))

    def _recorded(self, client: Client) -> Client:
        return client if self.records_clients else UNKNOWN


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


@define(eq=False)
class FirstAccount:
    """Whether the directory has an account. That it has one is read once."""

    _roster: StoredRoster
    _exists: bool = False

    async def exists(self) -> bool:
        """Return whether there is an account, of any state. Raises Unavailable."""
        self._exists = self._exists or bool(await self._roster.all_accounts(limit=1))
        return self._exists


AT_ONCE = 20
"""The most accounts that one call of `remove` checks."""


@define(eq=False)
class UnusedAccounts:
    """Deletes accounts that are not approved and were not used for `lifetime` seconds.

    An account is used when its owner opens a page while signed in, and when a request is charged to its shared quota.
    """

    _log = Logger()

    _accounts: StoredAccounts
    _quota: Quota
    _now: Callable[[], float]
    _lifetime: float
    _after: str = ""

    async def remove(self) -> None:
        """Delete the unused accounts among the next AT_ONCE; the next call continues after these.

        Raises Unavailable.
        """
        before = self._now() - self._lifetime
        unused = await self._accounts.unused(before, after=self._after, limit=AT_ONCE)
        self._after = unused[-1].id if len(unused) == AT_ONCE else ""
        removed = 0
        for account in unused:
            spent_at = await self._quota.last(account.id)
            if spent_at is None or spent_at <= before:
                removed += await self._accounts.remove(account.id, before=before)
        if removed:
            self._log.info("Deleted without approval: {accounts}", accounts=counted(removed, "unused account"))


async def invitation(accounts: StoredAccounts, account_id: str, lifetime: float, url: str) -> str:
    """Return the URL of a new one-time link that sets the password of an account; `url` is that of the server."""
    return f"{url}/account/invitation/{await accounts.link(account_id, lifetime=lifetime)}"
