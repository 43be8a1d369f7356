"""The Quota on SQLite: a sliding log, exact in any window."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable
from typing import NamedTuple

from attrs import define
from twisted.logger import Logger

from ..errors import QuotaExceeded, Unavailable
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
        SELECT at, n FROM spent WHERE key = :key AND at <= :end
        AND n < (SELECT n FROM spent WHERE key = :key ORDER BY at DESC, n DESC LIMIT 1)
        ORDER BY at, n LIMIT :rows
    )
"""


@define(eq=False)
class SqliteQuota:
    """The units that keys spent, in the data directory; `now` is seconds since the epoch, `window` seconds.

    The rows of a key are numbered, so the first and the last of a window tell how many are in it: a charge is two
    look-ups and an insert in one transaction, whatever the limit. A clock that is behind a key's last unit, that of
    another process say, counts as being at it.
    """

    _log = Logger()

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
            if spent.units >= limit:
                raise QuotaExceeded(self._left(connection, key_id, limit, now, spent))
            connection.execute(_SPEND, (key_id, spent.at, spent.newest + 1))
        return self._allowance(limit, spent.units + 1, spent.oldest - now)

    async def peek(self, key_id: str, limit: int | None) -> Allowance:
        if limit is None:
            return Allowance(None, None, 0, self._window)
        now = self._now()
        with self._database.snapshot() as connection:
            return self._left(connection, key_id, limit, now, _spent(connection, key_id, now, self._window))

    async def last(self, key_id: str) -> float | None:
        with self._database.connection() as connection:
            row = connection.execute(_NEWEST, (key_id,)).fetchone()
        return row[0] if row else None

    def prune(self, keys: int = 100) -> None:
        """Delete what the next `keys` keys spent before the window, at most PRUNED rows; go on there the next time.

        The newest row of each key stays, which tells when it was last used.

        What cannot be done now is left for then too: a loop that calls this must not end.
        """
        try:
            self._prune(keys)
        except Unavailable as error:
            self._log.warn("Spent quota cannot be pruned: {reason}", reason=error.message)

    def _prune(self, keys: int) -> None:
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

    def _left(self, connection: sqlite3.Connection, key_id: str, limit: int, now: float, spent: _Spent) -> Allowance:
        if spent.units <= limit:
            return self._allowance(limit, spent.units, spent.oldest - now)
        # The limit was lowered: one more is admitted not when the oldest comes back but when `limit` - 1 are left.
        begin, over = spent.at - self._window, spent.units - limit
        (at, _) = connection.execute(_OLDEST, (key_id, begin, over)).fetchone()
        return self._allowance(limit, spent.units, at - now)

    def _allowance(self, limit: int, units: int, age: float) -> Allowance:
        return Allowance(limit, max(limit - units, 0), math.ceil(age + self._window) if units else 0, self._window)


class _Spent(NamedTuple):
    """A key's window, which ends `at`: its units, the number of the newest there is, the time of the oldest in it."""

    at: float
    units: int
    newest: int
    oldest: float


def _spent(connection: sqlite3.Connection, key_id: str, now: float, window: int) -> _Spent:
    at, newest = connection.execute(_NEWEST, (key_id,)).fetchone() or (now, 0)
    at = max(at, now)
    oldest, first = connection.execute(_OLDEST, (key_id, at - window, 0)).fetchone() or (at, newest + 1)
    return _Spent(at, newest - first + 1, newest, oldest)
