"""The rows of spent quota: look-ups and charges in windows."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable

from attrs import frozen

from ..domain.errors import QuotaExceeded
from ..domain.quota import Allowance

NEWEST = "SELECT at, n FROM spent WHERE key = ? ORDER BY at DESC, n DESC LIMIT 1"

_OLDEST = "SELECT at, n FROM spent WHERE key = ? AND at > ? ORDER BY at, n LIMIT 1 OFFSET ?"

_SPEND = "INSERT INTO spent (key, at, n) VALUES (?, ?, ?)"


Charge = tuple[str, int]
"""One request to spend: the id of a key, and its limit, the requests that it may spend in a window."""


@frozen
class Windows:
    """Charges and look-ups of keys in windows of `window` seconds. `now` is in seconds, of the quota's clock.

    The rows of a key are numbered, so the first and the last of a window tell how many are in it: a charge is two
    look-ups and an insert, whatever the limit.
    """

    _now: Callable[[], float]
    _window: int

    def left(self, connection: sqlite3.Connection, key_id: str, limit: int) -> Allowance:
        """Return the allowance of a key without spending. `connection` is in a transaction."""
        now = self._now()
        end, requests, _, oldest = self._look_up(connection, key_id, now)
        if requests > limit:
            # The limit was lowered: the next request is possible only when `limit` - 1 are left in the window.
            (oldest, _) = connection.execute(_OLDEST, (key_id, end - self._window, requests - limit)).fetchone()
        return self._allowance(limit, requests, oldest - now)

    def spend(self, connection: sqlite3.Connection, charge: Charge) -> Allowance:
        """Spend one request in a write transaction. Raises QuotaExceeded, with nothing written."""
        key_id, limit = charge
        now = self._now()
        end, requests, newest, oldest = self._look_up(connection, key_id, now)
        if requests >= limit:
            raise QuotaExceeded(self.left(connection, key_id, limit))
        connection.execute(_SPEND, (key_id, end, newest + 1))
        return self._allowance(limit, requests + 1, oldest - now)

    def _look_up(self, connection: sqlite3.Connection, key_id: str, now: float) -> tuple[float, int, int, float]:
        """Return the end of the window of a key, its requests, the number of the newest, and the time of the oldest.

        The window ends at `now`, or at the newest request if that is later. The oldest request of an empty window is at
        its end.
        """
        at, newest = connection.execute(NEWEST, (key_id,)).fetchone() or (now, 0)
        end = max(at, now)
        oldest, first = connection.execute(_OLDEST, (key_id, end - self._window, 0)).fetchone() or (end, newest + 1)
        return end, newest - first + 1, newest, oldest

    def _allowance(self, limit: int, count: int, age: float) -> Allowance:
        return Allowance(limit, max(limit - count, 0), math.ceil(age + self._window) if count else 0, self._window)
