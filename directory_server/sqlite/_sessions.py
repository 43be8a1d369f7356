"""The Sessions on SQLite."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from attrs import frozen

from ..domain.accounts import Account
from ..domain.errors import Unavailable
from ..domain.ports.runtime import Offload
from ..domain.secrets import digest, new_token
from ..run_sync import inline
from ._accounts import COLUMNS
from ._database import Database

COARSE = 10
"""The most writes of the last use per idle lifetime of a session."""

_OPEN = "INSERT INTO session (digest, account, created_at, seen_at) VALUES (?, ?, ?, ?)"

_FIND = f"""
    SELECT session.seen_at, {COLUMNS} FROM session JOIN account ON account.id = session.account
    WHERE digest = ? AND session.seen_at > ? AND session.created_at > ? AND disabled_at IS NULL
"""

_SEEN = "UPDATE session SET seen_at = max(seen_at, ?) WHERE digest = ?"

_USED = "UPDATE account SET seen_at = max(coalesce(seen_at, 0), ?) WHERE id = ?"

_CLOSE = "DELETE FROM session WHERE digest = ?"

_FORGET = "DELETE FROM session WHERE seen_at <= ? OR created_at <= ?"


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

    async def open(self, account_id: str) -> str:
        """Start a session and return its secret; delete ended sessions."""
        token, now = new_token(), self._now()
        await self._offload(
            self._write,
            (_FORGET, (now - self._idle, now - self._absolute)),
            (_OPEN, (digest(token), account_id, now, now)),
            (_USED, (now, account_id)),
        )
        return token

    async def find(self, token: str) -> Account | None:
        """Return the account of a session and record the use; None if unknown or ended."""
        now, key = self._now(), digest(token)
        arguments = key, now - self._idle, now - self._absolute
        row = await self._database.read(lambda connection: connection.execute(_FIND, arguments).fetchone())
        if row is None:
            return None
        seen_at, *account = row
        if now - seen_at >= self._idle / COARSE:
            # If another process holds the lock, the next request records the use.
            with suppress(Unavailable):
                await self._offload(self._see, now, key, account[0])
        return Account(*account)

    async def close(self, token: str) -> None:
        await self._offload(self._write, (_CLOSE, (digest(token),)))

    def _see(self, now: float, key: bytes, account_id: str) -> None:
        with self._database.transaction(wait=0) as connection:
            connection.execute(_SEEN, (now, key))
            connection.execute(_USED, (now, account_id))

    def _write(self, *statements: tuple[str, tuple[Any, ...]]) -> None:
        with self._database.transaction() as connection:
            for statement, arguments in statements:
                connection.execute(statement, arguments)
