"""The Accounts on SQLite."""

from __future__ import annotations

import sqlite3
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
from ..domain.errors import TooManyAccounts
from ..domain.keys import COUNTED_AFTER_END, digest, new_id, new_token
from ..domain.ports.runtime import Offload
from ..run_sync import inline
from ._database import Database

COLUMNS = "account.id, email, account.created_at, password IS NOT NULL, disabled_at, approved_at IS NOT NULL, role"
"""The columns of an Account, in the order of its fields."""

_ADD = "INSERT INTO account (id, email, password, created_at, approved_at) VALUES (?, ?, ?, ?, ?)"

_PENDING = "SELECT count(*) FROM account WHERE approved_at IS NULL"

_APPROVE = "UPDATE account SET approved_at = coalesce(approved_at, ?) WHERE id = ?"

_SET_ROLE = "UPDATE account SET role = ? WHERE id = ?"

_ACCOUNT = f"SELECT {COLUMNS} FROM account"

_BY_ID = f"{_ACCOUNT} WHERE id = ?"

_BY_EMAIL = f"{_ACCOUNT} WHERE email = ?"

_ALL = f"{_ACCOUNT} ORDER BY created_at, rowid"

_IS_UNUSED = "approved_at IS NULL AND disabled_at IS NULL AND max(created_at, coalesce(seen_at, 0)) <= :before"

_UNUSED = f"{_ACCOUNT} WHERE account.id > :after AND {_IS_UNUSED} ORDER BY account.id LIMIT :limit"

_STILL_UNUSED = f"SELECT 1 FROM account WHERE id = :id AND {_IS_UNUSED}"

_REMOVE = (
    "DELETE FROM secret WHERE key_id IN (SELECT id FROM api_key WHERE owner = ?)",
    "DELETE FROM api_key WHERE owner = ?",
    "DELETE FROM session WHERE account = ?",
    "DELETE FROM link WHERE account = ?",
    "DELETE FROM account WHERE id = ?",
)
"""Deletes an account and its rows in other tables, in the order of the foreign keys."""

_DELETE = (
    "DELETE FROM secret WHERE key_id IN (SELECT id FROM api_key WHERE owner = :id)",
    "DELETE FROM new_secret WHERE key_id IN (SELECT id FROM api_key WHERE owner = :id)",
    "DELETE FROM key_use WHERE key_id IN (SELECT id FROM api_key WHERE owner = :id)",
    "UPDATE api_key SET owner = NULL, label = '', revoked_at = coalesce(revoked_at, :now) WHERE owner = :id",
    "DELETE FROM session WHERE account = :id",
    "DELETE FROM link WHERE account = :id",
    "DELETE FROM account WHERE id = :id",
    "DELETE FROM api_key WHERE revoked_at <= :now - :kept AND id NOT IN (SELECT key_id FROM secret)",
)
"""Deletes an account. Its keys stay for a time as revoked rows without secrets, which end open streams."""

_PASSWORD = "SELECT password FROM account WHERE id = ? AND disabled_at IS NULL"

_SET_PASSWORD = "UPDATE account SET password = ? WHERE id = ?"

_DISABLE = "UPDATE account SET disabled_at = coalesce(disabled_at, ?) WHERE id = ?"

_ENABLE = "UPDATE account SET disabled_at = NULL WHERE id = ?"

_END_SESSIONS = "DELETE FROM session WHERE account = ?"

_LINK = "INSERT OR REPLACE INTO link (account, digest, expires_at) VALUES (?, ?, ?)"

_LINKED = f"""
    SELECT {COLUMNS} FROM link JOIN account ON account.id = link.account
    WHERE digest = ? AND expires_at > ? AND disabled_at IS NULL
"""

_UNLINK = "DELETE FROM link WHERE account = ?"


@frozen
class SqliteAccounts:
    """Accounts in the data directory. `now` is in seconds since the epoch; `offload` runs writes, which may block."""

    _database: Database
    _now: Callable[[], float]
    _offload: Offload = inline

    async def add(self, email: str, hashed: str | None = None) -> Account:
        """Create an approved account. Raises BadInput if the address is invalid or taken."""
        address, now = checked_email(email), self._now()

        def write(connection: sqlite3.Connection) -> Account:
            return _add(connection, address, hashed, now, approved_at=now)

        return await self._offload(self._database.write, write)

    async def register(self, email: str, hashed: str, *, most: int) -> Account:
        address, now = checked_email(email), self._now()

        def write(connection: sqlite3.Connection) -> Account:
            if connection.execute(_PENDING).fetchone()[0] >= most:
                raise TooManyAccounts
            return _add(connection, address, hashed, now, approved_at=None)

        return await self._offload(self._database.write, write)

    async def approve(self, account_id: str) -> None:
        """Approve an account; the time of an earlier approval stays. Raises NotFound."""

        def write(connection: sqlite3.Connection) -> None:
            _get(connection, account_id)
            connection.execute(_APPROVE, (self._now(), account_id))

        await self._offload(self._database.write, write)

    async def set_role(self, account_id: str, role: Role) -> None:
        def write(connection: sqlite3.Connection) -> None:
            check_role(_get(connection, account_id), role)
            connection.execute(_SET_ROLE, (role, account_id))

        await self._offload(self._database.write, write)

    async def unused(self, before: float, *, after: str, limit: int) -> Sequence[Account]:
        arguments = {"before": before, "after": after, "limit": limit}
        return await self._database.read(
            lambda connection: [Account(*row) for row in connection.execute(_UNUSED, arguments)]
        )

    async def remove(self, account_id: str, *, before: float) -> bool:
        def write(connection: sqlite3.Connection) -> bool:
            if connection.execute(_STILL_UNUSED, {"id": account_id, "before": before}).fetchone() is None:
                return False
            for statement in _REMOVE:
                connection.execute(statement, (account_id,))
            return True

        return await self._offload(self._database.write, write)

    async def delete(self, account_id: str) -> None:
        arguments = {"id": account_id, "now": self._now(), "kept": COUNTED_AFTER_END}

        def write(connection: sqlite3.Connection) -> None:
            _get(connection, account_id)
            for statement in _DELETE:
                connection.execute(statement, arguments)

        await self._offload(self._database.write, write)

    async def find(self, email: str) -> Account | None:
        address = normalized_email(email)
        row = await self._row(_BY_EMAIL, address) if is_email(address) else None
        return Account(*row) if row else None

    async def list(self) -> Sequence[Account]:
        return await self._database.read(lambda connection: [Account(*row) for row in connection.execute(_ALL)])

    async def password(self, account_id: str) -> str | None:
        row = await self._row(_PASSWORD, account_id)
        return row[0] if row else None

    async def set_password(self, account_id: str, hashed: str) -> None:
        """Set the password hash; end all sessions and links of the account. Raises NotFound."""

        def write(connection: sqlite3.Connection) -> None:
            _get(connection, account_id)
            _set_password(connection, account_id, hashed)

        await self._offload(self._database.write, write)

    async def forget_password(self, account_id: str) -> None:
        def write(connection: sqlite3.Connection) -> None:
            _get(connection, account_id)
            _set_password(connection, account_id, None)

        await self._offload(self._database.write, write)

    async def disable(self, account_id: str) -> None:
        """Disable an account; end all its sessions and links. Raises NotFound."""

        def write(connection: sqlite3.Connection) -> None:
            _get(connection, account_id)
            connection.execute(_DISABLE, (self._now(), account_id))
            connection.execute(_END_SESSIONS, (account_id,))
            connection.execute(_UNLINK, (account_id,))

        await self._offload(self._database.write, write)

    async def enable(self, account_id: str) -> None:
        """Undo `disable`; ended sessions and links stay ended. Raises NotFound."""

        def write(connection: sqlite3.Connection) -> None:
            _get(connection, account_id)
            connection.execute(_ENABLE, (account_id,))

        await self._offload(self._database.write, write)

    async def link(self, account_id: str, *, lifetime: float) -> str:
        """Return the secret of a new link, which replaces an earlier one. Raises NotFound, BadInput if disabled."""
        token = new_token()

        def write(connection: sqlite3.Connection) -> str:
            if _get(connection, account_id).disabled_at is not None:
                raise disabled_account()
            connection.execute(_LINK, (account_id, digest(token), self._now() + lifetime))
            return token

        return await self._offload(self._database.write, write)

    async def linked(self, token: str) -> Account | None:
        row = await self._row(_LINKED, digest(token), self._now())
        return Account(*row) if row else None

    async def redeem(self, token: str, hashed: str) -> Account:
        """Set the password of the account of a link, once. Raises NotFound if unknown, used or expired."""

        def write(connection: sqlite3.Connection) -> Account:
            row = connection.execute(_LINKED, (digest(token), self._now())).fetchone()
            if row is None:
                raise unknown_link()
            _set_password(connection, row[0], hashed)
            return _get(connection, row[0])

        return await self._offload(self._database.write, write)

    async def _row(self, query: str, *arguments: object) -> Any:
        return await self._database.read(lambda connection: connection.execute(query, arguments).fetchone())


def _add(
    connection: sqlite3.Connection, address: str, hashed: str | None, now: float, approved_at: float | None
) -> Account:
    """Insert an account. Raises BadInput if the address is taken."""
    if connection.execute(_BY_EMAIL, (address,)).fetchone():
        raise email_taken(address)
    account_id = new_id()
    connection.execute(_ADD, (account_id, address, hashed, now, approved_at))
    return _get(connection, account_id)


def _get(connection: sqlite3.Connection, account_id: str) -> Account:
    row = connection.execute(_BY_ID, (account_id,)).fetchone()
    if row is None:
        raise unknown_account(account_id)
    return Account(*row)


def _set_password(connection: sqlite3.Connection, account_id: str, hashed: str | None) -> None:
    connection.execute(_SET_PASSWORD, (hashed, account_id))
    connection.execute(_END_SESSIONS, (account_id,))
    connection.execute(_UNLINK, (account_id,))
