"""The Accounts and the Sessions in memory, and the data that all adapters of access share."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence

from attrs import define, field, frozen

from ..domain.accounts import (
    MAX_SESSIONS,
    Account,
    BrowserSession,
    Role,
    check_role,
    checked_email,
    id_of_digest,
    is_email,
    normalized_email,
)
from ..domain.clients import UNKNOWN, Client
from ..domain.errors import BadInput, NotFound, TooManyAccounts
from ..domain.keys import ApiKey, KeyUse, NewSecret, RegistryToken, digest, new_id, new_token
from ..domain.publishers import Publication, PublisherToken


@define
class AccountRow:
    """A stored account. Times are seconds since the epoch."""

    id: str
    email: str
    password: str | None
    created_at: float
    approved_at: float | None
    disabled_at: float | None = None
    seen_at: float = 0.0
    role: Role = "member"

    @property
    def account(self) -> Account:
        """The account as the port returns it."""
        return Account(
            self.id,
            self.email,
            self.created_at,
            self.password is not None,
            self.disabled_at,
            self.approved_at is not None,
            self.role,
        )


@define
class SecretRow:
    """A stored secret of a key, which ends at `expires_at`."""

    key_id: str
    expires_at: float | None = None


@define
class SessionRow:
    """A stored session of an account."""

    account_id: str
    created_at: float
    seen_at: float
    client: Client = UNKNOWN


@define
class LinkRow:
    """A stored link to set the password of an account."""

    account_id: str
    expires_at: float


@define(eq=False)
class AccessData:
    """Accounts, sessions, links, keys and tokens. Adapters with the same data act as processes with one database.

    Accounts, keys, uses of keys and tokens are stored by id, all others by the digests of their secrets. `deleted_keys`
    has the times at which keys were deleted with their account. `published` is the number of the last publication.
    """

    accounts: dict[str, AccountRow] = field(factory=dict)
    sessions: dict[bytes, SessionRow] = field(factory=dict)
    links: dict[bytes, LinkRow] = field(factory=dict)
    keys: dict[str, ApiKey] = field(factory=dict)
    deleted_keys: dict[str, float] = field(factory=dict)
    key_uses: dict[str, KeyUse] = field(factory=dict)
    secrets: dict[bytes, SecretRow] = field(factory=dict)
    new_secrets: dict[tuple[bytes, str], tuple[NewSecret, float]] = field(factory=dict)
    tokens: dict[str, RegistryToken] = field(factory=dict)
    token_ids: dict[bytes, str] = field(factory=dict)
    publishers: dict[str, PublisherToken] = field(factory=dict)
    publisher_ids: dict[bytes, str] = field(factory=dict)
    publications: dict[int, Publication] = field(factory=dict)
    published: int = 0


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
            raise BadInput("The account is disabled. Enable it first.")
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
            raise NotFound("This link is unknown, used or expired. Ask for a new one.", code="link_unknown")
        await self.set_password(account.id, hashed)
        return self._get(account.id).account

    def _add(self, email: str, hashed: str | None, approved_at: float | None) -> Account:
        address = checked_email(email)
        if self._by_email(address):
            raise BadInput(f"email: {address!r} has an account already.", code="email_taken")
        row = AccountRow(new_id(), address, hashed, self._now(), approved_at)
        self._data.accounts[row.id] = row
        return row.account

    def _by_email(self, address: str) -> AccountRow | None:
        return next((row for row in self._data.accounts.values() if row.email == address), None)

    def _get(self, account_id: str) -> AccountRow:
        row = self._data.accounts.get(account_id)
        if row is None:
            raise NotFound(f"No account has the id {account_id!r}.")
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


@frozen
class MemorySessions:
    """Sessions, which end `idle` seconds after their last use and `absolute` seconds after their start."""

    _data: AccessData
    _now: Callable[[], float]
    _idle: float
    _absolute: float

    async def open(self, account_id: str, client: Client = UNKNOWN) -> str:
        token, now, sessions = new_token(), self._now(), self._data.sessions
        for surplus in self._last_used_first(account_id)[MAX_SESSIONS - 1 :]:
            del sessions[surplus]
        sessions[digest(token)] = SessionRow(account_id, now, now, client)
        self._data.accounts[account_id].seen_at = now
        return token

    async def find(self, token: str, client: Client = UNKNOWN) -> Account | None:
        now, session = self._now(), self._data.sessions.get(digest(token))
        if session is None or not self._is_open(session):
            return None
        row = self._data.accounts[session.account_id]
        if row.disabled_at is not None:
            return None
        session.seen_at = row.seen_at = now
        session.client = client
        return row.account

    async def list(self, account_id: str) -> Sequence[BrowserSession]:
        rows = [(key, self._data.sessions[key]) for key in self._last_used_first(account_id)]
        return [
            BrowserSession(id_of_digest(key), row.created_at, row.seen_at, row.client)
            for key, row in rows
            if self._is_open(row)
        ]

    async def end(self, account_id: str, session_id: str) -> None:
        for key in self._last_used_first(account_id):
            if id_of_digest(key) == session_id:
                del self._data.sessions[key]
                return
        raise NotFound("The session is unknown or has ended.", code="session_unknown")

    async def end_others(self, token: str) -> None:
        if own := self._data.sessions.get(digest(token)):
            for key in self._last_used_first(own.account_id):
                if key != digest(token):
                    del self._data.sessions[key]

    async def close(self, token: str) -> None:
        self._data.sessions.pop(digest(token), None)

    def _is_open(self, row: SessionRow) -> bool:
        now = self._now()
        return row.seen_at > now - self._idle and row.created_at > now - self._absolute

    def _last_used_first(self, account_id: str) -> builtins.list[bytes]:
        """Return the digests of the sessions of an account."""
        found = [(row.seen_at, row.created_at, key) for key, row in self._data.sessions.items()]
        return [key for *_, key in sorted(found, reverse=True) if self._data.sessions[key].account_id == account_id]


def _is_unused(row: AccountRow, before: float) -> bool:
    return row.approved_at is None and row.disabled_at is None and max(row.created_at, row.seen_at) <= before
