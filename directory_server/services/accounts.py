"""How people become members, sign in and sign out."""

from __future__ import annotations

from unicodedata import normalize

from attrs import frozen

from ..domain.accounts import Account
from ..domain.errors import BadInput, NotFound, SignInRefused
from ..domain.ports.accounts import Accounts, Passwords, Sessions

SHORTEST, LONGEST = 12, 200
"""Characters of a password: what NIST SP 800-63B-4, section 3.1.1.2, has for guessing, and what is hashed at most."""


@frozen
class AccountService:
    """Lets people in by their passwords; each way in ends in a new session, whose secret is returned.

    `client` is for whom a password is hashed, which takes long: clients take turns. At most `most_pending` accounts
    that registered by themselves may wait for approval.
    """

    _accounts: Accounts
    _sessions: Sessions
    _passwords: Passwords
    _most_pending: int = 1_000

    async def who(self, session: str) -> Account | None:
        """Return whose session it is, None if it is none."""
        return await self._sessions.find(session)

    async def sign_in(self, email: str, password: str, client: str = "") -> str:
        """Begin a session. Raises SignInRefused, as late for an unknown address as for a wrong password."""
        account = await self._accounts.find(email)
        account_id = account.id if account else ""
        hashed = await self._accounts.password(account_id)
        verified = await self._passwords.verify(hashed, _normal(password)[:LONGEST], client=client)
        # It may have been changed meanwhile, which was to end all that the old one opened.
        if not verified or hashed != await self._accounts.password(account_id):
            raise SignInRefused
        return await self._sessions.open(account_id)

    async def sign_out(self, session: str) -> None:
        """End a session."""
        await self._sessions.close(session)

    async def invited(self, token: str) -> Account:
        """Return whom a link is for, without using it. Raises NotFound."""
        account = await self._accounts.linked(token)
        if account is None:
            raise NotFound("This link is unknown, used or expired. Ask for a new one.", code="link_unknown")
        return account

    async def accept(self, token: str, password: str, client: str = "") -> str:
        """Set the password that a link is for, and begin a session. Raises NotFound, and BadInput for the password."""
        chosen = _chosen(password, (await self.invited(token)).email)
        account = await self._accounts.redeem(token, await self._passwords.hash(chosen, client=client))
        return await self._sessions.open(account.id)

    def check_password(self, email: str, password: str) -> None:
        """Raise BadInput for a password that an account with the address `email` must not have."""
        _chosen(password, email)

    async def register(self, email: str, password: str, client: str = "") -> str:
        """Create an account that is not approved, and begin a session.

        Raises BadInput for the address or the password, and TooManyAccounts.
        """
        hashed = await self._passwords.hash(_chosen(password, email), client=client)
        account = await self._accounts.register(email, hashed, most=self._most_pending)
        return await self._sessions.open(account.id)

    async def change_password(self, account: Account, old: str, new: str, client: str = "") -> str:
        """End every session of an account and begin a new one. Raises SignInRefused for `old`, BadInput for `new`."""
        chosen = _chosen(new, account.email)
        hashed = await self._accounts.password(account.id)
        if not await self._passwords.verify(hashed, _normal(old)[:LONGEST], client=client):
            raise SignInRefused
        await self._accounts.set_password(account.id, await self._passwords.hash(chosen, client=client))
        return await self._sessions.open(account.id)


def _normal(password: str) -> str:
    """Return a password in the one form that all keyboards and systems amount to (NIST SP 800-63B-4, 3.1.1.2)."""
    return normalize("NFKC", password)


def _chosen(password: str, email: str) -> str:
    """Return a new password as it is hashed. Raises BadInput for one that will not do."""
    chosen = _normal(password)
    if not SHORTEST <= len(chosen) <= LONGEST or chosen.lower() == email.strip().lower():
        raise BadInput(
            f"password: must be {SHORTEST} to {LONGEST} characters, and not the e-mail address.", code="password_wrong"
        )
    return chosen
