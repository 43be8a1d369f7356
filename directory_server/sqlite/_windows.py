"""The rows of spent quota: look-ups, and charges with a memory of the windows of recent keys."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Sequence

from attrs import define

from ..domain.errors import QuotaExceeded
from ..domain.quota import Allowance
from ._database import data_version

REMEMBERED = 10_000
"""The most windows in memory."""

NEWEST = "SELECT at, n FROM spent WHERE key = ? ORDER BY at DESC, n DESC LIMIT 1"

_OLDEST = "SELECT at, n FROM spent WHERE key = ? AND at > ? ORDER BY at, n LIMIT 1 OFFSET ?"

_SPEND = "INSERT INTO spent (key, at, n) VALUES (?, ?, ?)"


Charge = tuple[str, int]
"""One request to spend: the id of a key, and its limit, the requests that it may spend in a window."""


@define(eq=False)
class _Spent:
    """The window of a key that ends `at`: its requests, the number of the newest, the time of the oldest.

    It is as the database had it in the period `period` of the memory. Each charge updates it in place, because a new
    object for each takes five times as long.
    """

    at: float
    requests: int
    newest: int
    oldest: float
    period: int

    def charge(self, key_id: str, now: float) -> tuple[str, float, int]:
        """Add a request at `now`, or at the end of the window if that is later; return its row.

        An empty window is new, and its oldest request is at its end already.
        """
        if self.at < now:
            self.at = now
        self.requests += 1
        self.newest += 1
        return key_id, self.at, self.newest


class Windows:
    """Charges and look-ups of keys in windows of `window` seconds. `now` is in seconds, of the quota's clock.

    The rows of a key are numbered, so the first and the last of a window tell how many are in it: a charge is two
    look-ups and an insert, whatever the limit. `remembering` avoids the look-ups of keys that were charged before. If
    others have written meanwhile, one look-up is enough: they add newer requests, and delete none that counts.
    """

    def __init__(self, now: Callable[[], float], window: int) -> None:
        self._now = now
        self._window = window
        self._memory = _Memory()

    def left(self, connection: sqlite3.Connection, key_id: str, limit: int) -> Allowance:
        """Return the allowance of a key without spending. `connection` is in a transaction."""
        now = self._now()
        return self._left(connection, key_id, limit, now, _look_up(connection, key_id, now, self._window, 0))

    def spend(self, connection: sqlite3.Connection, charge: Charge) -> Allowance:
        """Spend one request in a write transaction. Raises QuotaExceeded, with nothing written."""
        (outcome,) = self._spend(connection, [charge], _Memory())
        if isinstance(outcome, QuotaExceeded):
            raise outcome
        return outcome

    def remembering(self, connection: sqlite3.Connection) -> Spending:
        """Return the charges of a write transaction of `connection` that has just begun, with the memory of windows.

        Only one thread may call this, and always with the same connection. Call `committed` after the commit.
        """
        return Spending(self, connection, self._memory)

    def _spend(
        self, connection: sqlite3.Connection, charges: Sequence[Charge], memory: _Memory
    ) -> list[Allowance | QuotaExceeded]:
        """Spend requests in order, all at the same time; return their outcomes and bring `memory` up to date."""
        now, window = self._now(), self._window
        known, period = memory.known, memory.period
        outcomes: list[Allowance | QuotaExceeded] = []
        rows: list[tuple[str, float, int]] = []
        for key_id, limit in charges:
            spent = known.get(key_id)
            if spent is not None and spent.period != period:
                spent = _extended(connection, key_id, spent, period)
            if spent is None or spent.oldest <= (spent.at if spent.at > now else now) - window:
                # A window in memory has no rows of this transaction yet: its oldest request was in the window then.
                spent = _look_up(connection, key_id, now, window, period)
            known[key_id] = spent
            if spent.requests >= limit:
                _insert(connection, rows)
                rows = []
                outcomes.append(QuotaExceeded(self._left(connection, key_id, limit, now, spent)))
                continue
            rows.append(spent.charge(key_id, now))
            outcomes.append(self._allowance(limit, spent.requests, spent.oldest - now))
        _insert(connection, rows)
        return outcomes

    def _left(self, connection: sqlite3.Connection, key_id: str, limit: int, now: float, spent: _Spent) -> Allowance:
        if spent.requests <= limit:
            return self._allowance(limit, spent.requests, spent.oldest - now)
        # The limit was lowered: the next request is possible only when `limit` - 1 are left in the window.
        begin, over = max(spent.at, now) - self._window, spent.requests - limit
        (at, _) = connection.execute(_OLDEST, (key_id, begin, over)).fetchone()
        return self._allowance(limit, spent.requests, at - now)

    def _allowance(self, limit: int, count: int, age: float) -> Allowance:
        # To call max() takes five times as long.
        left = limit - count if count < limit else 0
        return Allowance(limit, left, math.ceil(age + self._window) if count else 0, self._window)


class _Memory:
    """Windows of keys. Only those of the current `period` are certain: it ends when others write to the database."""

    def __init__(self) -> None:
        self.known: dict[str, _Spent] = {}
        self.period = 0
        self.version: tuple[object, int, int] | None = None


class Spending:
    """The charges of one write transaction, with the memory of windows. See `Windows.remembering`."""

    __slots__ = ("_connection", "_data_version", "_memory", "_windows")

    def __init__(self, windows: Windows, connection: sqlite3.Connection, memory: _Memory) -> None:
        self._windows = windows
        self._connection = connection
        self._memory = memory
        # No other connection can write before the end of this transaction.
        self._data_version = data_version(connection)
        if memory.version != self._version():
            memory.period += 1
        # An error that rolls the transaction back leaves its charges in the memory, which nobody has made.
        if memory.version is None or len(memory.known) > REMEMBERED:
            memory.known = {}
        memory.version = None

    def spend(self, charges: Sequence[Charge]) -> list[Allowance | QuotaExceeded]:
        """Spend requests in order and return their outcomes."""
        return self._windows._spend(self._connection, charges, self._memory)

    def committed(self) -> None:
        """Keep the memory for the next transaction."""
        self._memory.version = self._version()

    def _version(self) -> tuple[object, int, int]:
        # data_version counts the commits of other connections, and is comparable only within one connection.
        return self._connection, self._data_version, self._connection.total_changes


def _look_up(connection: sqlite3.Connection, key_id: str, now: float, window: int, period: int) -> _Spent:
    at, newest = connection.execute(NEWEST, (key_id,)).fetchone() or (now, 0)
    at = max(at, now)
    oldest, first = connection.execute(_OLDEST, (key_id, at - window, 0)).fetchone() or (at, newest + 1)
    return _Spent(at, newest - first + 1, newest, oldest, period)


def _extended(connection: sqlite3.Connection, key_id: str, spent: _Spent, period: int) -> _Spent | None:
    """Return an earlier window of a key with the requests that others have spent since; None if it is unusable."""
    at, newest = connection.execute(NEWEST, (key_id,)).fetchone() or (0.0, 0)
    if not spent.requests or newest < spent.newest:
        return None
    return _Spent(max(at, spent.at), spent.requests + newest - spent.newest, newest, spent.oldest, period)


def _insert(connection: sqlite3.Connection, rows: Sequence[tuple[str, float, int]]) -> None:
    if len(rows) == 1:
        connection.execute(_SPEND, rows[0])
    elif rows:
        connection.executemany(_SPEND, rows)
