"""The Accounts on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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
from ..domain.entries import is_storable
from ..domain.errors import TooManyAccounts
from ..domain.keys import COUNTED_AFTER_END, digest, new_id, new_token
from ._connection import Cursor
from ._database import Database
from ._link import Statements
from ._pulse import end_keys

COLUMNS = "account.id, email, account.created_at, password IS NOT NULL, disabled_at, approved_at IS NOT NULL, role"
"""The columns of an Account, in the order of its fields."""

_ADD = f"""
    INSERT INTO account (id, email, password, created_at, approved_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (email) DO NOTHING RETURNING {COLUMNS}
"""

_REGISTERING = "SELECT pg_advisory_xact_lock(0, 3)"
"""The lock of registrations: the number of pending accounts is counted before one is added."""

_PENDING = "SELECT count(*) FROM account WHERE approved_at IS NULL"

_APPROVE = "UPDATE account SET approved_at = coalesce(approved_at, $2) WHERE id = $1"

_SET_ROLE = "UPDATE account SET role = $2 WHERE id = $1"

_ACCOUNT = f"SELECT {COLUMNS} FROM account"

_LOCK = f"{_ACCOUNT} WHERE id = $1 FOR UPDATE"

_BY_EMAIL = f"{_ACCOUNT} WHERE email = $1"

_ALL = f"{_ACCOUNT} ORDER BY created_at, ordinal"

_IS_UNUSED = "approved_at IS NULL AND disabled_at IS NULL AND greatest(created_at, seen_at) <= $1"

_UNUSED = f"{_ACCOUNT} WHERE id > $2 AND {_IS_UNUSED} ORDER BY id LIMIT $3"

_STILL_UNUSED = f"SELECT 1 FROM account WHERE id = $2 AND {_IS_UNUSED} FOR UPDATE"

_REMOVE = (
    "DELETE FROM secret USING api_key WHERE key_id = api_key.id AND owner = $1",
    "DELETE FROM api_key WHERE owner = $1",
    "DELETE FROM session WHERE account = $1",
    "DELETE FROM link WHERE account = $1",
    "DELETE FROM account WHERE id = $1",
)
"""Deletes an account and its rows in other tables, in the order of the foreign keys."""

_DELETE = (
    # The keys before their uses: a record of uses skips locked keys, and locks uses in another order.
    ("SELECT 1 FROM api_key WHERE owner = $1 FOR UPDATE", False),
    ("DELETE FROM secret USING api_key WHERE key_id = api_key.id AND owner = $1", False),
    ("DELETE FROM new_secret USING api_key WHERE key_id = api_key.id AND owner = $1", False),
    ("DELETE FROM key_use USING api_key WHERE key_id = api_key.id AND owner = $1", False),
    ("UPDATE api_key SET owner = NULL, label = '', revoked_at = coalesce(revoked_at, $2) WHERE owner = $1", True),
    ("DELETE FROM session WHERE account = $1", False),
    ("DELETE FROM link WHERE account = $1", False),
    ("DELETE FROM account WHERE id = $1", False),
)
"""Deletes an account, and whether a statement has the time as a parameter.

Its keys stay for a time as revoked rows without secrets, which end open streams.
"""

_DELETE_ENDED = """
    DELETE FROM api_key WHERE id IN (
        SELECT id FROM api_key WHERE revoked_at <= $1
        AND NOT EXISTS (SELECT 1 FROM secret WHERE key_id = api_key.id) FOR UPDATE SKIP LOCKED
    )
"""

_PASSWORD = "SELECT password FROM account WHERE id = $1 AND disabled_at IS NULL"

_SET_PASSWORD = "UPDATE account SET password = $2 WHERE id = $1"

_DISABLE = "UPDATE account SET disabled_at = coalesce(disabled_at, $2) WHERE id = $1"

_ENABLE = "UPDATE account SET disabled_at = NULL WHERE id = $1"

_END_SESSIONS = "DELETE FROM session WHERE account = $1"

_LINK = """
    INSERT INTO link (account, digest, expires_at) VALUES ($1, $2, $3)
    ON CONFLICT (account) DO UPDATE SET digest = excluded.digest, expires_at = excluded.expires_at
"""

_LINKED = f"""
    SELECT {COLUMNS} FROM link JOIN account ON account.id = link.account
    WHERE digest = $1 AND expires_at > $2 AND disabled_at IS NULL
"""

_UNLINK = "DELETE FROM link WHERE account = $1"


_KEYS = "SELECT id FROM api_key WHERE owner = $1"


@frozen
class PostgresAccounts:
    """Accounts in the database. `now` is in seconds since the epoch. `reads` runs look-ups; by default in a thread.

    Each transaction locks the row of the account before rows of other tables, so that no two wait for each other.
    """

    _database: Database
    _now: Callable[[], float]
    _reads: Statements | None = None

    async def add(self, email: str, hashed: str | None = None) -> Account:
        address, now = checked_email(email), self._now()
        return await self._database.write(lambda cursor: _add(cursor, address, hashed, now, approved_at=now))

    async def register(self, email: str, hashed: str, *, most: int) -> Account:
        address, now = checked_email(email), self._now()

        def write(cursor: Cursor) -> Account:
            cursor.execute(_REGISTERING)
            if cursor.one(_PENDING)[0] >= most:
                raise TooManyAccounts
            return _add(cursor, address, hashed, now, approved_at=None)

        return await self._database.write(write)

    async def approve(self, account_id: str) -> None:
        now = self._now()

        def write(cursor: Cursor) -> None:
            _lock(cursor, account_id)
            cursor.execute(_APPROVE, (account_id, now))
            # Cached keys of a pending account are charged to the account.
            end_keys(cursor, _keys_of(cursor, account_id))

        await self._database.write(write)

    async def set_role(self, account_id: str, role: Role) -> None:
        def write(cursor: Cursor) -> None:
            check_role(_lock(cursor, account_id), role)
            cursor.execute(_SET_ROLE, (account_id, role))

        await self._database.write(write)

    async def unused(self, before: float, *, after: str, limit: int) -> Sequence[Account]:
        rows = await self._database.read(lambda cursor: cursor.all(_UNUSED, before, after, limit))
        return [Account(*row) for row in rows]

    async def remove(self, account_id: str, *, before: float) -> bool:
        def write(cursor: Cursor) -> bool:
            if cursor.one(_STILL_UNUSED, before, account_id) is None:
                return False
            ended = _keys_of(cursor, account_id)
            for statement in _REMOVE:
                cursor.execute(statement, (account_id,))
            end_keys(cursor, ended)
            return True

        return is_storable(account_id) and await self._database.write(write)

    async def delete(self, account_id: str) -> None:
        now = self._now()

        def write(cursor: Cursor) -> None:
            _lock(cursor, account_id)
            ended = _keys_of(cursor, account_id)
            for statement, is_timed in _DELETE:
                cursor.execute(statement, (account_id, now) if is_timed else (account_id,))
            cursor.execute(_DELETE_ENDED, (now - COUNTED_AFTER_END,))
            end_keys(cursor, ended)

        await self._database.write(write)

    async def find(self, email: str) -> Account | None:
        address = normalized_email(email)
        row = await self._row(_BY_EMAIL, address) if is_email(address) else None
        return Account(*row) if row else None

    async def list(self) -> Sequence[Account]:
        return [Account(*row) for row in await self._database.read(lambda cursor: cursor.all(_ALL))]

    async def password(self, account_id: str) -> str | None:
        row = await self._row(_PASSWORD, account_id) if is_storable(account_id) else None
        return row[0] if row else None

    async def set_password(self, account_id: str, hashed: str) -> None:
        await self._replace_password(account_id, hashed)

    async def forget_password(self, account_id: str) -> None:
        await self._replace_password(account_id, None)

    async def disable(self, account_id: str) -> None:
        now = self._now()

        def write(cursor: Cursor) -> None:
            _lock(cursor, account_id)
            cursor.execute(_DISABLE, (account_id, now))
            cursor.execute(_END_SESSIONS, (account_id,))
            cursor.execute(_UNLINK, (account_id,))
            end_keys(cursor, _keys_of(cursor, account_id))

        await self._database.write(write)

    async def enable(self, account_id: str) -> None:
        def write(cursor: Cursor) -> None:
            _lock(cursor, account_id)
            cursor.execute(_ENABLE, (account_id,))

        await self._database.write(write)

    async def link(self, account_id: str, *, lifetime: float) -> str:
        token, expires_at = new_token(), self._now() + lifetime

        def write(cursor: Cursor) -> str:
            if _lock(cursor, account_id).disabled_at is not None:
                raise disabled_account()
            cursor.execute(_LINK, (account_id, digest(token), expires_at))
            return token

        return await self._database.write(write)

    async def linked(self, token: str) -> Account | None:
        row = await self._row(_LINKED, digest(token), self._now())
        return Account(*row) if row else None

    async def redeem(self, token: str, hashed: str) -> Account:
        key, now = digest(token), self._now()

        def write(cursor: Cursor) -> Account:
            found = cursor.one(_LINKED, key, now)
            # Another caller may have used the link before this one got the lock of the account.
            if found is None or not (_lock(cursor, found[0]) and cursor.one(_LINKED, key, now)):
                raise unknown_link()
            _set_password(cursor, found[0], hashed)
            return _lock(cursor, found[0])

        return await self._database.write(write)

    async def _replace_password(self, account_id: str, hashed: str | None) -> None:
        def write(cursor: Cursor) -> None:
            _lock(cursor, account_id)
            _set_password(cursor, account_id, hashed)

        await self._database.write(write)

    async def _row(self, query: str, *parameters: object) -> Any:
        rows = await (self._reads or self._database).run(query, *parameters)
        return rows[0] if rows else None


def _add(cursor: Cursor, address: str, hashed: str | None, now: float, approved_at: float | None) -> Account:
    """Insert an account. Raises BadInput if the address is taken."""
    row = cursor.one(_ADD, new_id(), address, hashed, now, approved_at)
    if row is None:
        raise email_taken(address)
    return Account(*row)


def _lock(cursor: Cursor, account_id: str) -> Account:
    """Return an account, locked until the end of the transaction. Raises NotFound."""
    row = cursor.one(_LOCK, account_id) if is_storable(account_id) else None
    if row is None:
        raise unknown_account(account_id)
    return Account(*row)


def _set_password(cursor: Cursor, account_id: str, hashed: str | None) -> None:
    cursor.execute(_SET_PASSWORD, (account_id, hashed))
    cursor.execute(_END_SESSIONS, (account_id,))
    cursor.execute(_UNLINK, (account_id,))


def _keys_of(cursor: Cursor, account_id: str) -> list[str]:
    """Return the ids of the keys of an account, whose row is locked."""
    return [key_id for (key_id,) in cursor.all(_KEYS, account_id)]
