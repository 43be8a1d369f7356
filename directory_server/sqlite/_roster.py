"""The Roster on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeVar

from attrs import frozen

from ..domain.accounts import Account
from ..domain.keys import ApiKey
from ..domain.ports.runtime import Offload
from ..domain.roster import ListedAccount, ListedKey, RosterCounts, searched
from ..run_sync import inline
from ._accounts import COLUMNS
from ._database import Database
from ._keyring import FIELDS, FROM

T = TypeVar("T")

_ACCOUNT = f"""
    SELECT {COLUMNS},
        (SELECT count(*) FROM api_key WHERE owner = account.id AND revoked_at IS NULL)
    FROM account
"""

_ACCOUNTS = f"""
    {_ACCOUNT}
    WHERE instr(email, :text) AND (NOT :pending OR approved_at IS NULL AND disabled_at IS NULL)
    AND (:after = '' OR (created_at, id) < (SELECT created_at, id FROM account WHERE id = :after))
    ORDER BY created_at DESC, id DESC LIMIT :limit
"""

_KEY = f"SELECT {FIELDS}, coalesce(account.email, '') {FROM} LEFT JOIN account ON account.id = owner"

_KEYS = f"""
    {_KEY}
    WHERE revoked_at IS NULL AND (:owner = '' OR owner = :owner)
    AND (instr(lower(label), :text) OR instr(coalesce(account.email, ''), :text) OR instr(api_key.id, :text))
    AND (:after = '' OR (api_key.created_at, api_key.id) < (SELECT created_at, id FROM api_key WHERE id = :after))
    ORDER BY api_key.created_at DESC, api_key.id DESC LIMIT :limit
"""

_COUNTS = """
    SELECT count(*), count(*) FILTER (WHERE approved_at IS NULL AND disabled_at IS NULL), count(disabled_at),
        (SELECT count(*) FROM api_key WHERE revoked_at IS NULL)
    FROM account
"""


@frozen
class SqliteRoster:
    """Accounts and keys in the data directory; `offload` runs reads, which may block."""

    _database: Database
    _offload: Offload = inline

    async def accounts(
        self, text: str = "", *, pending: bool = False, after: str = "", limit: int
    ) -> Sequence[ListedAccount]:
        arguments = {"text": searched(text), "pending": pending, "after": after, "limit": limit}
        return await self._read(lambda connection: [_account(row) for row in connection.execute(_ACCOUNTS, arguments)])

    async def account(self, account_id: str) -> ListedAccount | None:
        def read(connection: sqlite3.Connection) -> ListedAccount | None:
            row = connection.execute(f"{_ACCOUNT} WHERE id = ?", (account_id,)).fetchone()
            return _account(row) if row else None

        return await self._read(read)

    async def keys(self, text: str = "", *, owner: str = "", after: str = "", limit: int) -> Sequence[ListedKey]:
        arguments = {"text": searched(text), "owner": owner, "after": after, "limit": limit}
        return await self._read(lambda connection: [_key(row) for row in connection.execute(_KEYS, arguments)])

    async def key(self, key_id: str) -> ListedKey | None:
        def read(connection: sqlite3.Connection) -> ListedKey | None:
            row = connection.execute(f"{_KEY} WHERE api_key.id = ? AND revoked_at IS NULL", (key_id,)).fetchone()
            return _key(row) if row else None

        return await self._read(read)

    async def counts(self) -> RosterCounts:
        return await self._read(lambda connection: RosterCounts(*connection.execute(_COUNTS).fetchone()))

    async def _read(self, function: Callable[[sqlite3.Connection], T]) -> T:
        def read() -> T:
            with self._database.connection() as connection:
                return function(connection)

        return await self._offload(read)


def _account(row: tuple[object, ...]) -> ListedAccount:
    *fields, keys = row
    return ListedAccount(Account(*fields), keys)  # type: ignore[arg-type]  # the types of the columns


def _key(row: tuple[object, ...]) -> ListedKey:
    *fields, email = row
    return ListedKey(ApiKey(*fields), email)  # type: ignore[arg-type]
