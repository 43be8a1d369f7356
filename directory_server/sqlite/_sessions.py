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
"""How often in an idle lifetime it is written down, at most, that a session is in use."""

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

    They end when they were not used for `idle` seconds, and after `absolute` seconds in any case; `now` is seconds
    since the epoch, and `offload` is where writes may wait.
    """

    _database: Database
    _now: Callable[[], float]
    _idle: float
    _absolute: float
    _offload: Offload = inline

    async def open(self, account_id: str) -> str:
        """Begin a session and return its secret; those that have ended are forgotten on the way."""
        token, now = new_token(), self._now()
        await self._offload(
            self._write,
            (_FORGET, (now - self._idle, now - self._absolute)),
            (_OPEN, (digest(token), account_id, now, now)),
            (_USED, (now, account_id)),
        )
        return token

    async def find(self, token: str) -> Account | None:
        """Return whose session it is, and note that it is in use; None where there is none, or it has ended."""
        now, key = self._now(), digest(token)
        arguments = key, now - self._idle, now - self._absolute
        row = await self._database.read(lambda connection: connection.execute(_FIND, arguments).fetchone())
        if row is None:
            return None
        seen_at, *account = row
        if now - seen_at >= self._idle / COARSE:
            # Where another process holds the lock, the next request notes it: this one need not wait.
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
