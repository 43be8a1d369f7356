"""The NewSecrets on SQLite: encrypted under the session's secret, which is not in the data directory."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from secrets import token_bytes

from attrs import frozen
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ..domain.keys import NewSecret
from ..domain.ports.runtime import Offload
from ..domain.secrets import digest
from ..run_sync import inline
from ._database import Database

LIFETIME = 300.0
"""Seconds for which a new secret can be read."""

_SALT, _NONCE, _KEY = 16, 12, 32
"""Bytes of the salt of HKDF (RFC 5869), and of nonce and key of AES-256-GCM (NIST SP 800-38D)."""

_FORGET = "DELETE FROM new_secret WHERE expires_at <= ?"

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
        """Store a new secret for LIFETIME seconds; delete the expired ones."""
        now, salt, nonce = self._now(), token_bytes(_SALT), token_bytes(_NONCE)
        sealed = nonce + _cipher(session, salt).encrypt(nonce, new.secret.encode(), key_id.encode())

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(_FORGET, (now,))
            connection.execute(_PUT, (digest(session), key_id, salt, sealed, new.rotated, now + LIFETIME))

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
        try:
            secret = _cipher(session, salt).decrypt(sealed[:_NONCE], sealed[_NONCE:], key_id.encode())
        except InvalidTag:  # The row was altered.
            return None
        return NewSecret(secret.decode(), bool(rotated))


def _cipher(session: str, salt: bytes) -> AESGCM:
    """Return AES-256-GCM under a key that is derived from a session's secret by HKDF."""
    derived = HKDF(SHA256(), _KEY, salt, b"directory-server new secret").derive(session.encode("utf-8", "replace"))
    return AESGCM(derived)
