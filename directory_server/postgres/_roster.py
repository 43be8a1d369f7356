"""The Roster on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from ..domain.accounts import Account
from ..domain.entries import is_storable
from ..domain.keys import ApiKey
from ..domain.roster import ListedAccount, ListedKey, RosterCounts, searched
from ._accounts import COLUMNS
from ._database import Database
from ._keyring import FIELDS, FROM
from ._pipeline import Row

_ACCOUNT = f"""
    SELECT {COLUMNS},
        (SELECT count(*) FROM api_key WHERE owner = account.id AND revoked_at IS NULL)
    FROM account
"""

_ACCOUNTS = f"""
    {_ACCOUNT}
    WHERE strpos(email, $1) > 0 AND (NOT $2::boolean OR approved_at IS NULL AND disabled_at IS NULL)
    AND ($3::text = '' OR (created_at, id) < (SELECT created_at, id FROM account WHERE id = $3))
    ORDER BY created_at DESC, id DESC LIMIT $4::int
"""

_KEY = f"SELECT {FIELDS}, coalesce(account.email, '') {FROM} LEFT JOIN account ON account.id = owner"

# With the collation C, `lower` changes ASCII letters only.
_KEYS = f"""
    {_KEY}
    WHERE revoked_at IS NULL AND ($2::text = '' OR owner = $2)
    AND (strpos(lower(label COLLATE "C"), $1) > 0 OR strpos(coalesce(account.email, ''), $1) > 0
        OR strpos(api_key.id, $1) > 0)
    AND ($3::text = '' OR (api_key.created_at, api_key.id) < (SELECT created_at, id FROM api_key WHERE id = $3))
    ORDER BY api_key.created_at DESC, api_key.id DESC LIMIT $4::int
"""

_COUNTS = """
    SELECT count(*), count(*) FILTER (WHERE approved_at IS NULL AND disabled_at IS NULL), count(disabled_at),
        (SELECT count(*) FROM api_key WHERE revoked_at IS NULL)
    FROM account
"""


@frozen
class PostgresRoster:
    """Accounts and keys in the database. Reads run in threads."""

    _database: Database

    async def accounts(
        self, text: str = "", *, pending: bool = False, after: str = "", limit: int
    ) -> Sequence[ListedAccount]:
        if not is_storable(after):
            return []
        found = searched(text)
        rows = await self._database.read(lambda cursor: cursor.all(_ACCOUNTS, found, pending, after, limit))
        return [_account(row) for row in rows]

    async def account(self, account_id: str) -> ListedAccount | None:
        if not is_storable(account_id):
            return None
        row = await self._database.read(lambda cursor: cursor.one(f"{_ACCOUNT} WHERE id = $1", account_id))
        return _account(row) if row else None

    async def keys(self, text: str = "", *, owner: str = "", after: str = "", limit: int) -> Sequence[ListedKey]:
        if not is_storable(owner + after):
            return []
        found = searched(text)
        rows = await self._database.read(lambda cursor: cursor.all(_KEYS, found, owner, after, limit))
        return [_key(row) for row in rows]

    async def key(self, key_id: str) -> ListedKey | None:
        if not is_storable(key_id):
            return None
        query = f"{_KEY} WHERE api_key.id = $1 AND revoked_at IS NULL"
        row = await self._database.read(lambda cursor: cursor.one(query, key_id))
        return _key(row) if row else None

    async def counts(self) -> RosterCounts:
        return RosterCounts(*await self._database.read(lambda cursor: cursor.one(_COUNTS)))


def _account(row: Row) -> ListedAccount:
    *fields, keys = row
    return ListedAccount(Account(*fields), keys)


def _key(row: Row) -> ListedKey:
    *fields, email = row
    return ListedKey(ApiKey(*fields), email)
