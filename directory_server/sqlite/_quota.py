"""The Quota on SQLite: a sliding log, exact in any window."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from attrs import define
from twisted.internet.defer import Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from ..domain.errors import QuotaExceeded, Unavailable
from ..domain.quota import Allowance
from ._connection import is_busy
from ._database import Database
from ._transactions import TransactionQueue

PRUNED = 5_000
"""Rows that one call of `prune` deletes at most."""

CHECKPOINT = 500
"""Charges, or calls of `prune`, between two checkpoints of the write-ahead log.

It then has about a thousand pages, four megabytes.
"""

_NEWEST = "SELECT at, n FROM spent WHERE key = ? ORDER BY at DESC, n DESC LIMIT 1"

_OLDEST = "SELECT at, n FROM spent WHERE key = ? AND at > ? ORDER BY at, n LIMIT 1 OFFSET ?"

_SPEND = "INSERT INTO spent (key, at, n) VALUES (?, ?, ?)"

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
    """Requests spent by keys, in the data directory.

    `now` is in seconds since the epoch and must be the same clock in all processes (quota_clock); `window` is in
    seconds. `wall` is the system time, which `last` returns.

    The rows of a key are numbered, so the first and the last of a window tell how many are in it: a charge is two
    look-ups and an insert in one transaction, whatever the limit.

    With a queue of the database, nothing blocks the thread of the caller, the reactor's. A charge is first tried
    directly, which is a third of the work. It goes to the queue if it would block: on a lock, on waiting charges, or on
    the disk, as each commit with `synchronous = full` does.
    """

    _log = Logger()

    _database: Database
    _now: Callable[[], float]
    _window: int = 3600
    _wall: Callable[[], float] | None = None
    _pruned_to: str = ""
    _charges: int = 0
    _prunes: int = 0

    async def charge(self, key_id: str, limit: int | None) -> Allowance:
        if limit is None:
            return Allowance(None, None, 0, self._window)
        queue = self._database.queue
        if queue is None:
            with self._database.transaction() as connection:
                return self._spend(connection, key_id, limit)
        if self._database.synchronous == "normal" and not queue.is_busy:
            try:
                with self._database.transaction(wait=0) as connection:
                    allowance = self._spend(connection, key_id, limit)
            except Unavailable as error:
                if not is_busy(error):
                    raise
            else:
                self._written(queue)
                return allowance
        allowance = await queue.submit(partial(self._spend, key_id=key_id, limit=limit))
        self._written(queue)
        return allowance

    async def peek(self, key_id: str, limit: int | None) -> Allowance:
        if limit is None:
            return Allowance(None, None, 0, self._window)
        with self._database.snapshot(wait=self._wait) as connection:
            now = self._now()
            return self._left(connection, key_id, limit, now, _spent(connection, key_id, now, self._window))

    async def last(self, key_id: str) -> float | None:
        with self._database.connection(wait=self._wait) as connection:
            row = connection.execute(_NEWEST, (key_id,)).fetchone()
        if row is None:
            return None
        at: float = row[0]
        return at if self._wall is None else at + self._wall() - self._now()

    async def prune(self, keys: int = 100) -> None:
        """Delete rows of the next `keys` keys from before the window, at most PRUNED rows; the next call continues.

        The newest row of each key stays for `last`. If the database is unavailable, the next call retries.
        """
        queue = self._database.queue
        try:
            if queue is None:
                self._prune(keys)
            else:
                # Other code writes too, such as the storage check, so the log is also copied without charges.
                self._prunes += 1
                if self._prunes % CHECKPOINT == 0:
                    self._copy_log(queue)
                await queue.run(partial(self._prune, keys))
        except Unavailable as error:
            if not is_busy(error):
                self._log.warn("Spent quota cannot be pruned: {reason}", reason=error.message)

    def _prune(self, keys: int) -> None:
        rows = PRUNED
        with self._database.transaction(wait=self._wait) as connection:
            end = self._now() - self._window
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

    def _written(self, queue: TransactionQueue) -> None:
        self._charges += 1
        if self._charges % CHECKPOINT == 0:
            self._copy_log(queue)

    def _copy_log(self, queue: TransactionQueue) -> None:
        Deferred.fromCoroutine(queue.run(self._checkpoint)).addErrback(self._failed)

    def _checkpoint(self) -> None:
        # If others write or the disk fails, the next checkpoint copies the log.
        with suppress(Unavailable):
            self._database.checkpoint()

    def _failed(self, failure: Failure) -> None:
        self._log.failure("The write-ahead log of the quota could not be copied", failure=failure)

    @property
    def _wait(self) -> float | None:
        return None if self._database.queue is None else 0

    def _spend(self, connection: sqlite3.Connection, key_id: str, limit: int) -> Allowance:
        """Spend one request in a transaction. Raises QuotaExceeded, with nothing written."""
        now = self._now()
        spent = _spent(connection, key_id, now, self._window)
        if spent.requests >= limit:
            raise QuotaExceeded(self._left(connection, key_id, limit, now, spent))
        connection.execute(_SPEND, (key_id, spent.at, spent.newest + 1))
        return self._allowance(limit, spent.requests + 1, spent.oldest - now)

    def _left(self, connection: sqlite3.Connection, key_id: str, limit: int, now: float, spent: _Spent) -> Allowance:
        if spent.requests <= limit:
            return self._allowance(limit, spent.requests, spent.oldest - now)
        # The limit was lowered: the next request is possible only when `limit` - 1 are left in the window.
        begin, over = spent.at - self._window, spent.requests - limit
        (at, _) = connection.execute(_OLDEST, (key_id, begin, over)).fetchone()
        return self._allowance(limit, spent.requests, at - now)

    def _allowance(self, limit: int, count: int, age: float) -> Allowance:
        return Allowance(limit, max(limit - count, 0), math.ceil(age + self._window) if count else 0, self._window)


class _Spent(NamedTuple):
    """The window of a key that ends `at`: its requests, the number of the newest, the time of the oldest."""

    at: float
    requests: int
    newest: int
    oldest: float


def _spent(connection: sqlite3.Connection, key_id: str, now: float, window: int) -> _Spent:
    at, newest = connection.execute(_NEWEST, (key_id,)).fetchone() or (now, 0)
    at = max(at, now)
    oldest, first = connection.execute(_OLDEST, (key_id, at - window, 0)).fetchone() or (at, newest + 1)
    return _Spent(at, newest - first + 1, newest, oldest)
