"""The NewSecrets."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from ..domain.entries import is_storable
from ..domain.keys import NEW_SECRET_LIFETIME, NewSecret, digest
from ..sealing import seal, unseal
from ._tables import Tables

# It skips rows that another process deletes: neither waits for the other.
_FORGET = """
    DELETE FROM new_secret WHERE (session, key_id) IN (
        SELECT session, key_id FROM new_secret WHERE expires_at <= :now FOR UPDATE SKIP LOCKED
    )
"""

_PUT = """
    INSERT INTO new_secret (session, key_id, salt, sealed, rotated, expires_at)
    VALUES (:session, :key_id, :salt, :sealed, :rotated, :expires_at)
    ON CONFLICT (session, key_id) DO UPDATE SET
        salt = excluded.salt, sealed = excluded.sealed, rotated = excluded.rotated, expires_at = excluded.expires_at
"""

_TAKE = """
    DELETE FROM new_secret WHERE session = :session AND key_id = :key_id RETURNING salt, sealed, rotated, expires_at
"""


@frozen
class StoredNewSecrets:
    """New secrets of keys; `now` is in seconds since the epoch."""

    _tables: Tables
    _now: Callable[[], float]

    async def put(self, session: str, key_id: str, new: NewSecret) -> None:
        """Store a new secret for NEW_SECRET_LIFETIME seconds; delete the expired ones."""
        now = self._now()
        salt, sealed = seal(session, key_id, new.secret)
        row = {
            "session": digest(session),
            "key_id": key_id,
            "salt": salt,
            "sealed": sealed,
            "rotated": new.rotated,
            "expires_at": now + NEW_SECRET_LIFETIME,
        }
        await self._tables.write(lambda rows: rows.finish((_FORGET, {"now": now}), (_PUT, row)))

    async def take(self, session: str, key_id: str) -> NewSecret | None:
        """Return a new secret and delete it; None if unknown, taken or expired."""
        if not is_storable(key_id):
            return None
        row = await self._tables.write(lambda rows: rows.one(_TAKE, session=digest(session), key_id=key_id))
        if row is None:
            return None
        salt, sealed, rotated, expires_at = row
        if expires_at <= self._now():
            return None
        secret = unseal(session, key_id, bytes(salt), bytes(sealed))
        return None if secret is None else NewSecret(secret, bool(rotated))
