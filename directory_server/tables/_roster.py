"""The Roster."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from attrs import evolve, frozen

from ..domain.accounts import Account
from ..domain.keys import ApiKey, Client, KeyUse
from ..domain.roster import (
    ListedAccount,
    ListedKey,
    RosterCounts,
    RosterTotals,
    searched,
)
from ._account_rows import COLUMNS
from ._key_cache import FIELDS, FROM
from ._tables import Row, Rows, Tables, snapshot

_ACCOUNT = f"""
    SELECT {COLUMNS},
        (SELECT count(*) FROM api_key WHERE owner = account.id AND revoked_at IS NULL)
    FROM account
"""

_ACCOUNTS = f"""
    {_ACCOUNT}
    WHERE strpos(email, :text) > 0 AND (created_at, id) < (:before, :after)
    ORDER BY created_at DESC, id DESC LIMIT :limit
"""

_KEY = f"SELECT {FIELDS}, coalesce(account.email, '') {FROM} LEFT JOIN account ON account.id = owner"

_ON_PAGE = "revoked_at IS NULL AND (api_key.created_at, api_key.id) < (:before, :after)"

# With the collation C, `lower` changes ASCII letters only.
_HAS_TEXT = 'strpos(lower(label COLLATE "C"), :text) > 0 OR strpos(api_key.id, :text) > 0'

_NEWEST_KEYS = "ORDER BY api_key.created_at DESC, api_key.id DESC LIMIT :limit"

# The addresses are searched once, not for each key.
_KEYS = f"""
    {_KEY} WHERE {_ON_PAGE}
    AND ({_HAS_TEXT} OR owner IN (SELECT account.id FROM account WHERE strpos(email, :text) > 0)) {_NEWEST_KEYS}
"""

_OWNED_KEYS = f"""
    {_KEY} WHERE {_ON_PAGE} AND owner = :owner AND ({_HAS_TEXT} OR strpos(account.email, :text) > 0) {_NEWEST_KEYS}
"""

_VALID_KEY = f"{_KEY} WHERE api_key.id = :id AND revoked_at IS NULL"

_ALL_ACCOUNTS = f"""
    SELECT account.ordinal, {COLUMNS},
        (SELECT count(*) FROM api_key WHERE owner = account.id AND revoked_at IS NULL)
    FROM account WHERE account.ordinal > :after ORDER BY account.ordinal LIMIT :limit
"""

_ALL_KEYS = f"""
    SELECT api_key.ordinal, {FIELDS}, coalesce(account.email, ''), at, network, client {FROM}
    LEFT JOIN account ON account.id = owner LEFT JOIN key_use ON key_use.key_id = api_key.id
    WHERE api_key.ordinal > :after ORDER BY api_key.ordinal LIMIT :limit
"""

_END_OF_PAGE = {
    "account": "SELECT created_at, id FROM account WHERE id = :id",
    "api_key": "SELECT created_at, id FROM api_key WHERE id = :id",
}

_COUNTS = """
    SELECT (SELECT count(*) FROM (SELECT 1 FROM account LIMIT :most) AS counted),
        (SELECT count(*) FROM (SELECT 1 FROM account WHERE disabled_at IS NOT NULL LIMIT :most) AS counted),
        (SELECT count(*) FROM (SELECT 1 FROM api_key WHERE revoked_at IS NULL LIMIT :most) AS counted)
"""

_TOTAL_KEYS = """
    SELECT count(*), count(*) FILTER (WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now))
    FROM api_key
"""

_TOTAL_ACCOUNTS = """
    SELECT CASE WHEN disabled_at IS NOT NULL THEN 'disabled' WHEN approved_at IS NULL THEN 'pending'
        WHEN password IS NOT NULL OR EXISTS (SELECT 1 FROM identity WHERE identity.account = account.id) THEN 'active'
        ELSE 'invited' END AS state, count(*)
    FROM account GROUP BY state
"""


@frozen
class StoredRoster:
    """Accounts and keys for the operator pages and commands: searched and paged. Reads run in threads.

    The newest are first if the method says nothing else. Lists begin after the account or key with the id `after`; they
    are empty if it does not exist any more. `text` is part of what is found, without regard to the case of ASCII
    letters; an empty text finds all.
    """

    _tables: Tables

    async def accounts(self, text: str = "", *, after: str = "", limit: int) -> Sequence[ListedAccount]:
        """Return accounts by a part of their address."""
        return [_account(row) for row in await self._page(_ACCOUNTS, text, "account", after, limit)]

    async def account(self, account_id: str) -> ListedAccount | None:
        """Return the account with this id, or None."""
        row = await self._tables.read(lambda rows: rows.one(f"{_ACCOUNT} WHERE id = :id", id=account_id))
        return _account(row) if row else None

    async def keys(self, text: str = "", *, owner: str = "", after: str = "", limit: int) -> Sequence[ListedKey]:
        """Return keys that are not revoked, by a part of label, owner's address or id; with `owner`, only theirs."""
        query = _OWNED_KEYS if owner else _KEYS
        return [_key(row) for row in await self._page(query, text, "api_key", after, limit, owner=owner)]

    async def key(self, key_id: str) -> ListedKey | None:
        """Return the key with this id that is not revoked, or None."""
        row = await self._tables.read(lambda rows: rows.one(_VALID_KEY, id=key_id))
        return _key(row) if row else None

    async def all_accounts(self, *, after: int = 0, limit: int) -> Sequence[ListedAccount]:
        """Return the oldest accounts with numbers greater than `after`, the oldest first."""
        rows = await self._tables.select(_ALL_ACCOUNTS, after=after, limit=limit)
        return [evolve(_account(row), number=number) for number, *row in rows]

    async def all_keys(self, *, after: int = 0, limit: int) -> Sequence[ListedKey]:
        """Return the oldest keys with numbers greater than `after`, the oldest first, revoked and expired ones too."""
        rows = await self._tables.select(_ALL_KEYS, after=after, limit=limit)
        return [_used_key(*row) for row in rows]

    async def counts(self, most: int) -> RosterCounts:
        """Return the numbers of accounts and keys, each of at most `most + 1`."""
        return RosterCounts(*await self._tables.read(lambda rows: rows.one(_COUNTS, most=most + 1)))

    async def totals(self, now: float) -> RosterTotals:
        """Return the numbers of accounts and keys. It reads all of them: for commands, not for pages."""

        def read(rows: Rows) -> RosterTotals:
            keys, valid = rows.one(_TOTAL_KEYS, now=now)
            return RosterTotals(keys, valid, dict(rows.all(_TOTAL_ACCOUNTS)))

        return await self._tables.read(read)

    @snapshot
    def _page(
        self, rows: Rows, /, query: str, text: str, table: str, after: str, limit: int, **more: str
    ) -> Sequence[Row]:
        """Return the rows of `query` after the one of `table` with the id `after`; none if it does not exist."""
        end = rows.one(_END_OF_PAGE[table], id=after) if after else (math.inf, "")
        if end is None:
            return []
        return rows.all(query, text=searched(text), before=end[0], after=end[1], limit=limit, **more)


def _used_key(number: int, *row: Any) -> ListedKey:
    """Return the key in a row: number, fields of the key, address of its owner; time, network and client of its use."""
    *fields, at, network, client = row
    listed = _key(fields)
    use = None if at is None else KeyUse(listed.key.id, at, Client(network, client))
    return evolve(listed, number=number, use=use)


def _account(row: Row) -> ListedAccount:
    *fields, keys = row
    return ListedAccount(Account(*fields), keys)


def _key(row: Row) -> ListedKey:
    *fields, email = row
    return ListedKey(ApiKey(*fields), email)
