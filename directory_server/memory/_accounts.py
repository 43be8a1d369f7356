"""The Accounts in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from ..domain.accounts import (
    Account,
    Role,
    check_role,
    checked_email,
    disabled_account,
    email_taken,
    is_email,
    normalized_email,
    unknown_account,
    unknown_link,
)
from ..domain.errors import TooManyAccounts
from ..domain.keys import digest, new_id, new_token
from ._access import AccessData, AccountRow, LinkRow


@frozen
class MemoryAccounts:
    """Accounts; `now` is in seconds since the epoch."""

    _data: AccessData
    _now: Callable[[], float]

    async def add(self, email: str, hashed: str | None = None) -> Account:
        return self._add(email, hashed, approved_at=self._now())

    async def register(self, email: str, hashed: str, *, most: int) -> Account:
        checked_email(email)
        if sum(row.approved_at is None for row in self._data.accounts.values()) >= most:
            raise TooManyAccounts
        return self._add(email, hashed, approved_at=None)

    async def approve(self, account_id: str) -> None:
        row = self._get(account_id)
        if row.approved_at is None:
            row.approved_at = self._now()

    async def set_role(self, account_id: str, role: Role) -> None:
        row = self._get(account_id)
        check_role(row.account, role)
        row.role = role

    async def unused(self, before: float, *, after: str, limit: int) -> Sequence[Account]:
        rows = sorted(self._data.accounts.values(), key=lambda row: row.id)
        return [row.account for row in rows if row.id > after and _is_unused(row, before)][:limit]

    async def remove(self, account_id: str, *, before: float) -> bool:
        row = self._data.accounts.get(account_id)
        if row is None or not _is_unused(row, before):
            return False
        self._remove(account_id)
        return True

    async def delete(self, account_id: str) -> None:
        self._get(account_id)
        for key_id in self._remove(account_id):
            self._data.deleted_keys[key_id] = self._now()

    async def find(self, email: str) -> Account | None:
        address = normalized_email(email)
        row = self._by_email(address) if is_email(address) else None
        return row.account if row else None

    async def list(self) -> Sequence[Account]:
        return [row.account for row in self._data.accounts.values()]

    async def password(self, account_id: str) -> str | None:
        row = self._data.accounts.get(account_id)
        return row.password if row and row.disabled_at is None else None

    async def set_password(self, account_id: str, hashed: str) -> None:
        self._get(account_id).password = hashed
        self._end_access(account_id)

    async def forget_password(self, account_id: str) -> None:
        self._get(account_id).password = None
        self._end_access(account_id)

    async def disable(self, account_id: str) -> None:
        row = self._get(account_id)
        if row.disabled_at is None:
            row.disabled_at = self._now()
        self._end_access(account_id)

    async def enable(self, account_id: str) -> None:
        self._get(account_id).disabled_at = None

    async def link(self, account_id: str, *, lifetime: float) -> str:
        if self._get(account_id).disabled_at is not None:
            raise disabled_account()
        token = new_token()
        self._unlink(account_id)
        self._data.links[digest(token)] = LinkRow(account_id, self._now() + lifetime)
        return token

    async def linked(self, token: str) -> Account | None:
        link = self._data.links.get(digest(token))
        return self._get(link.account_id).account if link and link.expires_at > self._now() else None

    async def redeem(self, token: str, hashed: str) -> Account:
        account = await self.linked(token)
        if account is None:
            raise unknown_link()
        await self.set_password(account.id, hashed)
        return self._get(account.id).account

    def _add(self, email: str, hashed: str | None, approved_at: float | None) -> Account:
        address = checked_email(email)
        if self._by_email(address):
            raise email_taken(address)
        row = AccountRow(new_id(), address, hashed, self._now(), approved_at)
        self._data.accounts[row.id] = row
        return row.account

    def _by_email(self, address: str) -> AccountRow | None:
        return next((row for row in self._data.accounts.values() if row.email == address), None)

    def _get(self, account_id: str) -> AccountRow:
        row = self._data.accounts.get(account_id)
        if row is None:
            raise unknown_account(account_id)
        return row

    def _end_access(self, account_id: str) -> None:
        """End all sessions and links of an account."""
        sessions = self._data.sessions
        self._data.sessions = {each: row for each, row in sessions.items() if row.account_id != account_id}
        self._unlink(account_id)

    def _remove(self, account_id: str) -> set[str]:
        """Delete an account; return the ids of its keys."""
        data = self._data
        owned = {key.id for key in data.keys.values() if key.owner == account_id}
        data.secrets = {each: secret for each, secret in data.secrets.items() if secret.key_id not in owned}
        data.keys = {each: key for each, key in data.keys.items() if each not in owned}
        data.key_uses = {each: use for each, use in data.key_uses.items() if each not in owned}
        self._end_access(account_id)
        del data.accounts[account_id]
        return owned

    def _unlink(self, account_id: str) -> None:
        links = self._data.links
        self._data.links = {each: row for each, row in links.items() if row.account_id != account_id}


def _is_unused(row: AccountRow, before: float) -> bool:
    return row.approved_at is None and row.disabled_at is None and max(row.created_at, row.seen_at) <= before
