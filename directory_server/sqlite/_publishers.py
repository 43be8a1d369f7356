"""The PublisherTokens and the PublicationLog on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from attrs import astuple, frozen

from .. import serialization
from ..domain.keys import digest, is_publisher_secret
from ..domain.ports.runtime import Offload
from ..domain.publishers import (
    LOG_PAGE,
    LOG_SIZE,
    Publication,
    PublisherToken,
    new_publisher_token,
    unknown_publisher_token,
)
from ..run_sync import inline
from ._database import Database

_COLUMNS = "id, label, namespaces, last_four, created_at, expires_at, revoked_at"

_CREATE = """
    INSERT INTO publisher_token (id, label, namespaces, last_four, digest, created_at, expires_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""

_LIST = f"SELECT {_COLUMNS} FROM publisher_token ORDER BY created_at, rowid"

_FIND = f"""
    SELECT {_COLUMNS} FROM publisher_token
    WHERE digest = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
"""

_REVOKE = "UPDATE publisher_token SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?"

_ADD = """
    INSERT INTO publication (at, token_id, label, action, name, version, network, outcome)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""

_TRIM = "DELETE FROM publication WHERE number <= ?"

_FINISH = "UPDATE publication SET outcome = ? WHERE number = ?"

_NEWEST = """
    SELECT number, at, token_id, label, action, name, version, network, outcome FROM publication
    WHERE number < ? ORDER BY number DESC LIMIT ?
"""

_FORGET = "DELETE FROM publication WHERE at <= ?"

_OLD = "SELECT 1 FROM publication WHERE at <= ? LIMIT 1"

_LARGEST = 2**63 - 1


@frozen
class SqlitePublisherTokens:
    """Publisher tokens in the data directory, not cached. `now` is in seconds since the epoch."""

    _database: Database
    _now: Callable[[], float]

    async def create(
        self, label: str, namespaces: Sequence[str], *, expires_at: float | None
    ) -> tuple[PublisherToken, str]:
        token, secret = new_publisher_token(label, namespaces, self._now(), expires_at)
        with self._database.transaction() as connection:
            connection.execute(_CREATE, serialization.publisher_token_row(token, secret))
        return token, secret

    async def find(self, secret: str) -> PublisherToken | None:
        if not is_publisher_secret(secret):
            return None
        arguments = digest(secret), self._now()
        row = await self._database.read(lambda connection: connection.execute(_FIND, arguments).fetchone())
        return serialization.publisher_token(row) if row else None

    async def list(self) -> Sequence[PublisherToken]:
        with self._database.connection() as connection:
            return [serialization.publisher_token(row) for row in connection.execute(_LIST)]

    async def revoke(self, token_id: str) -> None:
        with self._database.transaction() as connection:
            if connection.execute(_REVOKE, (self._now(), token_id)).rowcount == 0:
                raise unknown_publisher_token(token_id)


@frozen
class SqlitePublicationLog:
    """The audit log in the data directory; `offload` runs writes, which may block. `size` is the most records."""

    _database: Database
    _offload: Offload = inline
    _size: int = LOG_SIZE

    async def add(self, record: Publication) -> int:
        def write(connection: sqlite3.Connection) -> int:
            number = int(connection.execute(_ADD, astuple(record)).lastrowid or 0)
            connection.execute(_TRIM, (number - self._size,))
            return number

        return await self._offload(self._database.write, write)

    async def finish(self, number: int, outcome: str) -> None:
        await self._offload(self._database.write, lambda connection: connection.execute(_FINISH, (outcome, number)))

    async def newest(self, limit: int = LOG_PAGE, before: int | None = None) -> Sequence[tuple[int, Publication]]:
        arguments = _LARGEST if before is None else before, min(limit, LOG_PAGE)
        rows = await self._database.read(lambda connection: connection.execute(_NEWEST, arguments).fetchall())
        return [(number, Publication(*fields)) for number, *fields in rows]

    async def forget(self, before: float) -> None:
        """Delete old records. Do not write if there are none: a write empties the caches of all processes."""
        if await self._database.read(lambda connection: connection.execute(_OLD, (before,)).fetchone()):
            await self._offload(self._database.write, lambda connection: connection.execute(_FORGET, (before,)))
