"""The NewSecrets on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from attrs import frozen

from ..domain.keys import NEW_SECRET_LIFETIME, NewSecret, digest
from ..domain.ports.runtime import Offload
from ..run_sync import inline
from ..sealing import seal, unseal
from ._database import Database

_FORGET_SECRETS = "DELETE FROM new_secret WHERE expires_at <= ?"

_PUT = (
    "INSERT OR REPLACE INTO new_secret (session, key_id, salt, sealed, rotated, expires_at) VALUES (?, ?, ?, ?, ?, ?)"
)

_TAKE = "DELETE FROM new_secret WHERE session = ? AND key_id = ? RETURNING salt, sealed, rotated, expires_at"


@frozen
class SqliteNewSecrets:
    """New secrets in the data directory; `now` is in seconds since the epoch; `offload` runs writes."""

    _database: Database
    _now: Callable[[], float]
    _offload: Offload = inline

    async def put(self, session: str, key_id: str, new: NewSecret) -> None:
        """Store a new secret for NEW_SECRET_LIFETIME seconds; delete the expired ones."""
        now = self._now()
        salt, sealed = seal(session, key_id, new.secret)

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(_FORGET_SECRETS, (now,))
            connection.execute(_PUT, (digest(session), key_id, salt, sealed, new.rotated, now + NEW_SECRET_LIFETIME))

        await self._offload(self._database.write, write)

    async def take(self, session: str, key_id: str) -> NewSecret | None:
        """Return a new secret and delete it; None if unknown, taken or expired."""

        def write(connection: sqlite3.Connection) -> tuple[bytes, bytes, int, float] | None:
            found: tuple[bytes, bytes, int, float] | None = connection.execute(
                _TAKE, (digest(session), key_id)
            ).fetchone()
            return found

        row = await self._offload(self._database.write, write)
        if row is None:
            return None
        salt, sealed, rotated, expires_at = row
        if expires_at <= self._now():
            return None
        secret = unseal(session, key_id, salt, sealed)
        return None if secret is None else NewSecret(secret, bool(rotated))
