"""The Sessions on SQLite, and the NewSecrets that a session can read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from attrs import frozen

from ..domain.accounts import (
    MAX_FORGOTTEN,
    MAX_SESSIONS,
    Account,
    BrowserSession,
    id_of_digest,
    unknown_session,
    writes_use,
)
from ..domain.clients import UNKNOWN, Client
from ..domain.errors import Unavailable
from ..domain.keys import NEW_SECRET_LIFETIME, NewSecret, digest, new_token
from ..domain.ports.runtime import Offload
from ..run_sync import inline
from ..sealing import seal, unseal
from ._accounts import COLUMNS
from ._database import Database

_OPEN = "INSERT INTO session (digest, account, created_at, seen_at, network, client) VALUES (?, ?, ?, ?, ?, ?)"

_SURPLUS = """
    DELETE FROM session WHERE account = :account AND digest NOT IN (
        SELECT digest FROM session WHERE account = :account ORDER BY seen_at DESC, created_at DESC LIMIT :most
    )
"""

_FIND = f"""
    SELECT session.seen_at, {COLUMNS} FROM session JOIN account ON account.id = session.account
    WHERE digest = ? AND session.seen_at > ? AND session.created_at > ? AND disabled_at IS NULL
"""

_SEEN = "UPDATE session SET seen_at = max(seen_at, ?), network = ?, client = ? WHERE digest = ?"

_LIST = """
    SELECT digest, created_at, seen_at, network, client FROM session
    WHERE account = ? AND seen_at > ? AND created_at > ? ORDER BY seen_at DESC, created_at DESC
"""

_USED = "UPDATE account SET seen_at = max(coalesce(seen_at, 0), ?) WHERE id = ?"

_CLOSE = "DELETE FROM session WHERE digest = ?"

_END = "DELETE FROM session WHERE account = ? AND lower(hex(substr(digest, 1, 8))) = ?"

_END_OTHERS = """
    DELETE FROM session
    WHERE account = (SELECT account FROM session WHERE digest = :digest) AND digest <> :digest
"""

_FORGET_IDLE = """
    DELETE FROM session WHERE digest IN (SELECT digest FROM session WHERE seen_at <= ? ORDER BY seen_at LIMIT ?)
"""

_FORGET_OLD = """
    DELETE FROM session WHERE digest IN (SELECT digest FROM session WHERE created_at <= ? ORDER BY created_at LIMIT ?)
"""


@frozen
class SqliteSessions:
    """Sessions in the data directory.

    They end `idle` seconds after their last use, and `absolute` seconds after their start. `now` is in seconds since
    the epoch; `offload` runs writes, which may block.
    """

    _database: Database
    _now: Callable[[], float]
    _idle: float
    _absolute: float
    _offload: Offload = inline

    async def open(self, account_id: str, client: Client = UNKNOWN) -> str:
        """Start a session and return its secret; delete some ended sessions."""
        token, now = new_token(), self._now()
        await self._offload(
            self._write,
            (_FORGET_IDLE, (now - self._idle, MAX_FORGOTTEN)),
            (_FORGET_OLD, (now - self._absolute, MAX_FORGOTTEN)),
            (_SURPLUS, {"account": account_id, "most": MAX_SESSIONS - 1}),
            (_OPEN, (digest(token), account_id, now, now, client.network, client.name)),
            (_USED, (now, account_id)),
        )
        return token

    async def find(self, token: str, client: Client = UNKNOWN) -> Account | None:
        """Return the account of a session and record the use; None if unknown or ended."""
        now, key = self._now(), digest(token)
        arguments = key, now - self._idle, now - self._absolute
        row = await self._database.read(lambda connection: connection.execute(_FIND, arguments).fetchone())
        if row is None:
            return None
        seen_at, *account = row
        if writes_use(seen_at, now, self._idle):
            # If another process holds the lock, the next request records the use.
            with suppress(Unavailable):
                await self._offload(self._see, now, key, account[0], client)
        return Account(*account)

    async def close(self, token: str) -> None:
        await self._offload(self._write, (_CLOSE, (digest(token),)))

    async def list(self, account_id: str) -> Sequence[BrowserSession]:
        arguments = account_id, self._now() - self._idle, self._now() - self._absolute
        rows = await self._database.read(lambda connection: connection.execute(_LIST, arguments).fetchall())
        return [
            BrowserSession(id_of_digest(key), created_at, seen_at, Client(network, name))
            for key, created_at, seen_at, network, name in rows
        ]

    async def end(self, account_id: str, session_id: str) -> None:
        def write(connection: sqlite3.Connection) -> None:
            if not connection.execute(_END, (account_id, session_id)).rowcount:
                raise unknown_session()

        await self._offload(self._database.write, write)

    async def end_others(self, token: str) -> None:
        await self._offload(self._write, (_END_OTHERS, {"digest": digest(token)}))

    def _see(self, now: float, key: bytes, account_id: str, client: Client) -> None:
        with self._database.transaction(wait=0) as connection:
            connection.execute(_SEEN, (now, client.network, client.name, key))
            connection.execute(_USED, (now, account_id))

    def _write(self, *statements: tuple[str, Any]) -> None:
        with self._database.transaction() as connection:
            for statement, arguments in statements:
                connection.execute(statement, arguments)


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
