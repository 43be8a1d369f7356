"""The Quota on SQLite: a sliding log, exact in any window."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable

from attrs import define, evolve, frozen

from ..errors import QuotaExceeded
from ..model import Allowance
from ._database import Database

PRUNED = 5_000
"""Rows that one call of `prune` deletes at most."""

_NEWEST = "SELECT at, n FROM spent WHERE key = ? ORDER BY at DESC, n DESC LIMIT 1"

_OLDEST = "SELECT at, n FROM spent WHERE key = ? AND at > ? ORDER BY at, n LIMIT 1 OFFSET ?"

_SPEND = "INSERT INTO spent (key, at, n) VALUES (?, ?, ?)"

_SETTLE = "UPDATE spent SET at = :now WHERE at > :now"

_NEXT_KEY = "SELECT key FROM spent WHERE key > ? ORDER BY key LIMIT 1"

_FORGET = """
    DELETE FROM spent WHERE key = :key AND (at, n) IN (
        SELECT at, n FROM spent WHERE key = :key AND at <= :end ORDER BY at, n LIMIT :rows
    )
"""


@define
class SqliteQuota:
    """The units that keys spent, in the data directory; `now` is seconds since the epoch, `window` seconds.

    The rows of a key are numbered, so the first and the last of a window tell how many are in it: a charge is two
    look-ups and an insert in one transaction, whatever the limit. A clock that is behind a key's last unit, that of
    another process say, counts as being at it.
    """

    _database: Database
    _now: Callable[[], float]
    _window: int = 3600
    _pruned_to: str = ""

    async def settle(self) -> None:
        """Take units of the future for spent now, as the machine's clock was set back while nobody ran.

        To be called once, when a server starts.
        """
        with self._database.transaction() as connection:
            connection.execute(_SETTLE, {"now": self._now()})

    async def charge(self, key_id: str, limit: int | None) -> Allowance:
        if limit is None:
            return Allowance(None, None, 0, self._window)
        now = self._now()
        with self._database.transaction() as connection:
            spent = _spent(connection, key_id, now, self._window)
            if spent.count >= limit:
                raise QuotaExceeded(self._allowance(connection, key_id, limit, spent, now))
            connection.execute(_SPEND, (key_id, spent.at, spent.newest + 1))
            spent = evolve(spent, newest=spent.newest + 1, count=spent.count + 1)
            return self._allowance(connection, key_id, limit, spent, now)

    async def peek(self, key_id: str, limit: int | None) -> Allowance:
        if limit is None:
            return Allowance(None, None, 0, self._window)
        now = self._now()
        with self._database.connection() as connection:
            return self._allowance(connection, key_id, limit, _spent(connection, key_id, now, self._window), now)

    def prune(self, keys: int = 100) -> None:
        """Delete what the next `keys` keys spent before the window, at most PRUNED rows; go on there the next time."""
        end, rows = self._now() - self._window, PRUNED
        with self._database.transaction() as connection:
            for _ in range(keys):
                following = connection.execute(_NEXT_KEY, (self._pruned_to,)).fetchone()
                if following is None:
                    self._pruned_to = ""
                    return
                (key,) = following
                rows -= connection.execute(_FORGET, {"key": key, "end": end, "rows": rows}).rowcount
                if rows == 0:
                    return
                self._pruned_to = key

    def _allowance(
        self, connection: sqlite3.Connection, key_id: str, limit: int, spent: _Spent, now: float
    ) -> Allowance:
        back = spent.oldest
        if spent.count > limit:
            # The limit has been lowered: nothing is admitted when the oldest comes back, only when `limit` are left.
            back = connection.execute(_OLDEST, (key_id, spent.at - self._window, spent.count - limit)).fetchone()[0]
        reset = math.ceil(back + self._window - now) if spent.count else 0
        return Allowance(limit, max(limit - spent.count, 0), reset, self._window)


@frozen
class _Spent:
    """The units of a key in the window that ends `at`: how many, the number of the newest, the time of the oldest."""

    at: float
    newest: int
    oldest: float
    count: int


def _spent(connection: sqlite3.Connection, key_id: str, now: float, window: int) -> _Spent:
    newest = connection.execute(_NEWEST, (key_id,)).fetchone()
    if newest is None:
        return _Spent(at=now, newest=0, oldest=now, count=0)
    at = max(now, newest[0])
    oldest = connection.execute(_OLDEST, (key_id, at - window, 0)).fetchone()
    if oldest is None:
        return _Spent(at=at, newest=newest[1], oldest=at, count=0)
    return _Spent(at=at, newest=newest[1], oldest=oldest[0], count=newest[1] - oldest[1] + 1)
