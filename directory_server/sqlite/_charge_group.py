"""Rows of spent quota, and group commit of a reactor turn: its charges are one transaction."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Sequence

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall
from twisted.python.failure import Failure

from ..domain.errors import QuotaExceeded, Unavailable
from ..domain.ports.runtime import Turn
from ..domain.quota import Allowance
from ._connection import is_busy
from ._database import Database
from ._transactions import MAX_TOGETHER, MAX_WAITING, WAIT, TransactionQueue

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


RETRY = 0.001
"""Seconds after which waiting charges try a locked file again, unless a turn with charges ends before."""

_Waiting = tuple[Charge, Deferred[Allowance], float]
"""A charge, its result, and the begin of the turn in which it was requested."""


class ChargeGroup:
    """Charges on the reactor's thread: one by one, or those of a turn in one transaction.

    A commit costs more than a charge, so charges that come together are committed together at the end of the turn. A
    charge that comes alone must not wait for the end of its turn. Whether others follow is not known, so a charge waits
    if it is not the first of its turn, or if the last turn had more than one.

    No charge blocks on a lock. If the file is locked, charges wait, those of further turns join them, and the next try
    is at the end of the next turn or after RETRY. Another process holds the lock for less than a millisecond, so that
    costs less than a thread. After WAIT seconds a charge is rejected and not spent. One transaction has MAX_TOGETHER
    charges at most, so that it takes a few milliseconds.

    `written` is called with the number of charges after each commit.
    """

    def __init__(self, database: Database, windows: Windows, turn: Turn, written: Callable[[int], None]) -> None:
        self._database = database
        self._windows = windows
        self._turn = turn
        self._written = written
        self._waiting: list[_Waiting] = []
        self._count = 0
        self._began = 0.0
        self._is_grouping = False
        self._retry: IDelayedCall | None = None

    async def charge(self, charge: Charge, queue: TransactionQueue) -> Allowance:
        """Spend one request and return once it is committed. Raises QuotaExceeded and Unavailable."""
        self._count += 1
        if self._count == 1:
            self._began = queue.clock.seconds()
            self._turn.at_end(self._end_turn)
        if not (self._is_grouping or self._count > 1 or self._waiting):
            outcome = self._alone(charge)
            if isinstance(outcome, QuotaExceeded):
                raise outcome
            if outcome is not None:
                return outcome
            self._try_later()
        if len(self._waiting) >= MAX_WAITING:
            raise queue.too_late()
        waiting: Deferred[Allowance] = Deferred()
        self._waiting.append((charge, waiting, self._began))
        return await waiting

    def _alone(self, charge: Charge) -> Allowance | QuotaExceeded | None:
        """Return the outcome of a charge in a transaction of its own, None if the file is locked."""
        try:
            (outcome,) = self._commit([charge])
        except Unavailable as error:
            if not is_busy(error):
                raise
            return None
        return outcome

    def _end_turn(self) -> None:
        self._is_grouping, self._count = self._count > 1, 0
        if self._waiting:
            self._commit_waiting()

    def _try_again(self) -> None:
        self._retry = None
        if self._waiting:
            self._commit_waiting()

    def _commit_waiting(self) -> None:
        # A charge whose caller has given up is not spent.
        waiting = [charge for charge in self._waiting if not charge[1].called]
        self._waiting = waiting[MAX_TOGETHER:]
        if self._waiting:
            self._try_later()
        del waiting[MAX_TOGETHER:]
        try:
            outcomes = self._commit([charge for charge, _, _ in waiting]) if waiting else []
        except Unavailable as error:
            if is_busy(error):
                self._keep(waiting)
            else:
                _fail(waiting, Failure())
            return
        except Exception:
            _fail(waiting, Failure())
            return
        for (_, deferred, _), outcome in zip(waiting, outcomes, strict=True):
            deferred.callback(Failure(outcome) if isinstance(outcome, QuotaExceeded) else outcome)

    def _keep(self, waiting: Sequence[_Waiting]) -> None:
        """Let charges wait for the next try; reject those that have waited for WAIT."""
        queue = self._queue
        begin = queue.clock.seconds() - WAIT
        late = [charge for charge in waiting if charge[2] <= begin]
        self._waiting[:0] = waiting[len(late) :]
        if self._waiting:
            self._try_later()
        if late:
            _fail(late, Failure(queue.too_late()))

    def _try_later(self) -> None:
        if self._retry is None:
            self._retry = self._queue.clock.callLater(RETRY, self._try_again)

    @property
    def _queue(self) -> TransactionQueue:
        queue = self._database.queue
        assert queue is not None
        return queue

    def _commit(self, charges: Sequence[Charge]) -> list[Allowance | QuotaExceeded]:
        with self._database.transaction(wait=0) as connection:
            outcomes = [self._spend(connection, charge) for charge in charges]
        self._written(len(charges))
        return outcomes

    def _spend(self, connection: sqlite3.Connection, charge: Charge) -> Allowance | QuotaExceeded:
        try:
            return self._windows.spend(connection, charge)
        except QuotaExceeded as exceeded:
            return exceeded


def _fail(waiting: Sequence[_Waiting], failure: Failure) -> None:
    for _, deferred, _ in waiting:
        deferred.errback(failure)
