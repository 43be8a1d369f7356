"""The PublisherTokens and the PublicationLog on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import astuple, frozen

from .. import serialization
from ..domain.entries import is_storable
from ..domain.keys import digest, is_publisher_secret
from ..domain.publishers import (
    LOG_PAGE,
    LOG_SIZE,
    Publication,
    PublisherToken,
    new_publisher_token,
    unknown_publisher_token,
)
from ._database import Database
from ._link import Statements

_COLUMNS = "id, label, namespaces, last_four, created_at, expires_at, revoked_at"

_CREATE = """
    INSERT INTO publisher_token (id, label, namespaces, last_four, digest, created_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
"""

_LIST = f"SELECT {_COLUMNS} FROM publisher_token ORDER BY created_at, ordinal"

_FIND = f"""
    SELECT {_COLUMNS} FROM publisher_token
    WHERE digest = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2::float8)
"""

_REVOKE = "UPDATE publisher_token SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 RETURNING 1"

# It deletes the records beyond the most, usually one. Rows that another process deletes at the moment are skipped.
_ADD = """
    WITH added AS (
        INSERT INTO publication (at, token_id, label, action, name, version, network, outcome)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING number
    ), trimmed AS (
        DELETE FROM publication WHERE number IN (
            SELECT number FROM publication WHERE number <= (SELECT number FROM added) - $9::bigint
            ORDER BY number LIMIT 10 FOR UPDATE SKIP LOCKED
        )
    )
    SELECT number FROM added
"""

_FINISH = "UPDATE publication SET outcome = $2 WHERE number = $1 RETURNING 1"

_NEWEST = """
    SELECT number, at, token_id, label, action, name, version, network, outcome FROM publication
    WHERE number < coalesce($1::bigint, 9223372036854775807) ORDER BY number DESC LIMIT $2
"""

_FORGET = """
    DELETE FROM publication WHERE number IN (
        SELECT number FROM publication WHERE at <= $1 ORDER BY number FOR UPDATE SKIP LOCKED
    )
"""


@frozen
class PostgresPublisherTokens:
    """Publisher tokens in the database, not cached. `now` is in seconds since the epoch.

    `reads` runs look-ups; by default in a thread.
    """

    _database: Database
    _now: Callable[[], float]
    _reads: Statements | None = None

    async def create(
        self, label: str, namespaces: Sequence[str], *, expires_at: float | None
    ) -> tuple[PublisherToken, str]:
        token, secret = new_publisher_token(label, namespaces, self._now(), expires_at)
        row = serialization.publisher_token_row(token, secret)
        await self._database.write(lambda cursor: cursor.execute(_CREATE, row))
        return token, secret

    async def find(self, secret: str) -> PublisherToken | None:
        if not is_publisher_secret(secret):
            return None
        rows = await (self._reads or self._database).run(_FIND, digest(secret), self._now())
        return serialization.publisher_token(rows[0]) if rows else None

    async def list(self) -> Sequence[PublisherToken]:
        return [
            serialization.publisher_token(row) for row in await self._database.read(lambda cursor: cursor.all(_LIST))
        ]

    async def revoke(self, token_id: str) -> None:
        now = self._now()
        known = is_storable(token_id) and await self._database.write(lambda cursor: cursor.one(_REVOKE, token_id, now))
        if not known:
            raise unknown_publisher_token(token_id)


@frozen
class PostgresPublicationLog:
    """The audit log in the database. `size` is the most records.

    `statements` adds and finishes records; by default in a thread.
    """

    _database: Database
    _size: int = LOG_SIZE
    _statements: Statements | None = None

    async def add(self, record: Publication) -> int:
        [(number,)] = await (self._statements or self._database).run(_ADD, *astuple(record), self._size, wrote=bool)
        return int(number)

    async def finish(self, number: int, outcome: str) -> None:
        await (self._statements or self._database).run(_FINISH, number, outcome, wrote=bool)

    async def newest(self, limit: int = LOG_PAGE, before: int | None = None) -> Sequence[tuple[int, Publication]]:
        rows = await self._database.read(lambda cursor: cursor.all(_NEWEST, before, min(limit, LOG_PAGE)))
        return [(number, Publication(*fields)) for number, *fields in rows]

    async def forget(self, before: float) -> None:
        await self._database.write(lambda cursor: cursor.execute(_FORGET, (before,)))
