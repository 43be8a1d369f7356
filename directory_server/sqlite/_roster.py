"""The Roster on SQLite."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeVar

from attrs import frozen

from ..domain.accounts import Account
from ..domain.keys import ApiKey
from ..domain.ports.runtime import Offload
from ..domain.roster import (
    ListedAccount,
    ListedKey,
    NumberedAccount,
    NumberedKey,
    RosterCounts,
    RosterTotals,
    numbered_key,
    searched,
)
from ..run_sync import inline
from ..tables import ACCOUNT_COLUMNS as COLUMNS
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
    WHERE instr(email, :text) AND (created_at, id) < (:before, :after) ORDER BY created_at DESC, id DESC LIMIT :limit
"""

# The few pending accounts are sorted: "+" keeps the order of the index account_listed from being used.
_PENDING_ACCOUNTS = f"""
    {_ACCOUNT}
    WHERE approved_at IS NULL AND disabled_at IS NULL AND instr(email, :text) AND (+created_at, id) < (:before, :after)
    ORDER BY +created_at DESC, id DESC LIMIT :limit
"""

_KEY = f"SELECT {FIELDS}, coalesce(account.email, '') {FROM} LEFT JOIN account ON account.id = owner"

_ON_PAGE = "revoked_at IS NULL AND (api_key.created_at, api_key.id) < (:before, :after)"

_HAS_TEXT = "instr(lower(label), :text) OR instr(api_key.id, :text)"

_NEWEST_KEYS = "ORDER BY api_key.created_at DESC, api_key.id DESC LIMIT :limit"

# The addresses are searched once, not for each key.
_KEYS = f"""
    {_KEY} WHERE {_ON_PAGE}
    AND ({_HAS_TEXT} OR owner IN (SELECT account.id FROM account WHERE instr(email, :text))) {_NEWEST_KEYS}
"""

_OWNED_KEYS = f"""
    {_KEY} WHERE {_ON_PAGE} AND owner = :owner AND ({_HAS_TEXT} OR instr(account.email, :text)) {_NEWEST_KEYS}
"""

_ALL_ACCOUNTS = f"""
    SELECT account.rowid, {COLUMNS},
        (SELECT count(*) FROM api_key WHERE owner = account.id AND revoked_at IS NULL)
    FROM account WHERE account.rowid > ? ORDER BY account.rowid LIMIT ?
"""

_ALL_KEYS = f"""
    SELECT api_key.rowid, {FIELDS}, coalesce(account.email, ''), at, network, client {FROM}
    LEFT JOIN account ON account.id = owner LEFT JOIN key_use ON key_use.key_id = api_key.id
    WHERE api_key.rowid > ? ORDER BY api_key.rowid LIMIT ?
"""

_END_OF_PAGE = {
    "account": "SELECT created_at, id FROM account WHERE id = ?",
    "api_key": "SELECT created_at, id FROM api_key WHERE id = ?",
}

_COUNTS = """
    SELECT (SELECT count(*) FROM (SELECT 1 FROM account LIMIT :most)),
        (SELECT count(*) FROM (
            SELECT 1 FROM account WHERE approved_at IS NULL AND disabled_at IS NULL LIMIT :most
        )),
        (SELECT count(*) FROM (SELECT 1 FROM account WHERE disabled_at IS NOT NULL LIMIT :most)),
        (SELECT count(*) FROM (SELECT 1 FROM api_key WHERE revoked_at IS NULL LIMIT :most))
"""

_TOTAL_KEYS = """
    SELECT count(*), count(*) FILTER (WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)) FROM api_key
"""

_TOTAL_ACCOUNTS = """
    SELECT CASE WHEN disabled_at IS NOT NULL THEN 'disabled' WHEN approved_at IS NULL THEN 'pending'
        WHEN password IS NOT NULL THEN 'active' ELSE 'invited' END AS state, count(*)
    FROM account GROUP BY state
"""


@frozen
class SqliteRoster:
    """Accounts and keys in the data directory; `offload` runs reads, which may block."""

    _database: Database
    _offload: Offload = inline

    async def accounts(
        self, text: str = "", *, pending: bool = False, after: str = "", limit: int
    ) -> Sequence[ListedAccount]:
        query = _PENDING_ACCOUNTS if pending else _ACCOUNTS
        return [_account(row) for row in await self._page(query, text, "account", after, limit)]

    async def account(self, account_id: str) -> ListedAccount | None:
        def read(connection: sqlite3.Connection) -> ListedAccount | None:
            row = connection.execute(f"{_ACCOUNT} WHERE id = ?", (account_id,)).fetchone()
            return _account(row) if row else None

        return await self._read(read)

    async def keys(self, text: str = "", *, owner: str = "", after: str = "", limit: int) -> Sequence[ListedKey]:
        query = _OWNED_KEYS if owner else _KEYS
        return [_key(row) for row in await self._page(query, text, "api_key", after, limit, owner=owner)]

    async def key(self, key_id: str) -> ListedKey | None:
        def read(connection: sqlite3.Connection) -> ListedKey | None:
            row = connection.execute(f"{_KEY} WHERE api_key.id = ? AND revoked_at IS NULL", (key_id,)).fetchone()
            return _key(row) if row else None

        return await self._read(read)

    async def all_accounts(self, *, after: int = 0, limit: int) -> Sequence[NumberedAccount]:
        def read(connection: sqlite3.Connection) -> Sequence[NumberedAccount]:
            rows = connection.execute(_ALL_ACCOUNTS, (after, limit))
            return [NumberedAccount(number, Account(*fields), keys) for number, *fields, keys in rows]

        return await self._read(read)

    async def all_keys(self, *, after: int = 0, limit: int) -> Sequence[NumberedKey]:
        def read(connection: sqlite3.Connection) -> Sequence[NumberedKey]:
            return [numbered_key(*row) for row in connection.execute(_ALL_KEYS, (after, limit))]

        return await self._read(read)

    async def counts(self, most: int) -> RosterCounts:
        arguments = {"most": most + 1}
        return await self._read(lambda connection: RosterCounts(*connection.execute(_COUNTS, arguments).fetchone()))

    async def totals(self, now: float) -> RosterTotals:
        def read(connection: sqlite3.Connection) -> RosterTotals:
            keys, valid = connection.execute(_TOTAL_KEYS, (now,)).fetchone()
            return RosterTotals(keys, valid, dict(connection.execute(_TOTAL_ACCOUNTS).fetchall()))

        return await self._read(read)

    async def _page(
        self, query: str, text: str, table: str, after: str, limit: int, **more: str
    ) -> Sequence[tuple[object, ...]]:
        """Return the rows of `query` after the one of `table` with the id `after`; none if it does not exist."""

        def read(connection: sqlite3.Connection) -> Sequence[tuple[object, ...]]:
            end = connection.execute(_END_OF_PAGE[table], (after,)).fetchone() if after else (math.inf, "")
            if end is None:
                return []
            found = {"text": searched(text), "before": end[0], "after": end[1], "limit": limit, **more}
            return connection.execute(query, found).fetchall()

        return await self._read(read)

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
