"""The NewSecrets on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from ..domain.entries import is_storable
from ..domain.keys import NEW_SECRET_LIFETIME, NewSecret, digest
from ..sealing import seal, unseal
from ._connection import Cursor
from ._database import Database

# It skips rows that another process deletes: neither waits for the other.
_FORGET = """
    DELETE FROM new_secret WHERE (session, key_id) IN (
        SELECT session, key_id FROM new_secret WHERE expires_at <= $1 FOR UPDATE SKIP LOCKED
    )
"""

_PUT = """
    INSERT INTO new_secret (session, key_id, salt, sealed, rotated, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (session, key_id) DO UPDATE SET
        salt = excluded.salt, sealed = excluded.sealed, rotated = excluded.rotated, expires_at = excluded.expires_at
"""

_TAKE = "DELETE FROM new_secret WHERE session = $1 AND key_id = $2 RETURNING salt, sealed, rotated, expires_at"


@frozen
class PostgresNewSecrets:
    """New secrets in the database; `now` is in seconds since the epoch."""

    _database: Database
    _now: Callable[[], float]

    async def put(self, session: str, key_id: str, new: NewSecret) -> None:
        """Store a new secret for NEW_SECRET_LIFETIME seconds; delete the expired ones."""
        now = self._now()
        row = (digest(session), key_id, *seal(session, key_id, new.secret), new.rotated, now + NEW_SECRET_LIFETIME)

        def write(cursor: Cursor) -> None:
            cursor.execute(_FORGET, (now,))
            cursor.execute(_PUT, row)

        await self._database.write(write)

    async def take(self, session: str, key_id: str) -> NewSecret | None:
        if not is_storable(key_id):
            return None
        row = await self._database.write(lambda cursor: cursor.one(_TAKE, digest(session), key_id))
        if row is None:
            return None
        salt, sealed, rotated, expires_at = row
        if expires_at <= self._now():
            return None
        secret = unseal(session, key_id, bytes(salt), bytes(sealed))
        return None if secret is None else NewSecret(secret, rotated)
