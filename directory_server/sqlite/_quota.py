"""The Quota on SQLite: a sliding log, exact in any window, by a clock of all processes of the machine."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from twisted.internet.defer import Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from ..domain.errors import Unavailable
from ..domain.ports.runtime import MachineTime, Turn
from ..domain.quota import Allowance
from ..runtime.turn import ImmediateTurn
from ._charge_group import NEWEST, ChargeGroup, Windows
from ._connection import is_busy
from ._database import Database
from ._transactions import TransactionQueue

PRUNED = 5_000
"""Rows that one call of `prune` deletes at most."""

CHECKPOINT = 500
"""Charges, or calls of `prune`, between two checkpoints of the write-ahead log.

It then has about a thousand pages, four megabytes.
"""

_NEXT_KEY = "SELECT key FROM spent WHERE key > ? ORDER BY key LIMIT 1"

_FORGET = """
    DELETE FROM spent WHERE key = :key AND (at, n) IN (
        SELECT at, n FROM spent WHERE key = :key AND at <= :end
        AND n < (SELECT n FROM spent WHERE key = :key ORDER BY at DESC, n DESC LIMIT 1)
        ORDER BY at, n LIMIT :rows
    )
"""


class SqliteQuota:
    """Requests spent by keys, in the data directory.

    `now` is in seconds since the epoch and must be the same clock in all processes (quota_clock); `window` is in
    seconds. `wall` is the system time, which `last` returns. `turn` is the reactor's.

    With a queue of the database, nothing blocks the thread of the caller, the reactor's. A charge is committed
    directly, alone or with the other charges of its turn, which is a third of the work. With `synchronous = full` it
    goes to the queue, because each commit waits for the disk.
    """

    _log = Logger()

    def __init__(
        self,
        database: Database,
        now: Callable[[], float],
        window: int = 3600,
        wall: Callable[[], float] | None = None,
        turn: Turn | None = None,
    ) -> None:
        self._database = database
        self._now = now
        self._window = window
        self._wall = wall
        self._windows = Windows(now, window)
        self._group = ChargeGroup(database, self._windows, turn or ImmediateTurn(), self._written)
        self._pruned_to = ""
        self._charges = 0
        self._prunes = 0

    async def charge(self, key_id: str, limit: int | None) -> Allowance:
        if limit is None:
            return Allowance(None, None, 0, self._window)
        charge = key_id, limit
        queue = self._database.queue
        if queue is None:
            with self._database.transaction() as connection:
                return self._windows.spend(connection, charge)
        if self._database.synchronous == "normal":
            return await self._group.charge(charge, queue)
        allowance = await queue.submit(partial(self._windows.spend, charge=charge))
        self._written(1)
        return allowance

    async def peek(self, key_id: str, limit: int | None) -> Allowance:
        if limit is None:
            return Allowance(None, None, 0, self._window)
        with self._database.snapshot(wait=self._wait) as connection:
            return self._windows.left(connection, key_id, limit)

    async def last(self, key_id: str) -> float | None:
        with self._database.connection(wait=self._wait) as connection:
            row = connection.execute(NEWEST, (key_id,)).fetchone()
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

    def _written(self, charges: int) -> None:
        before, self._charges = self._charges, self._charges + charges
        queue = self._database.queue
        if queue is not None and before // CHECKPOINT < self._charges // CHECKPOINT:
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


_READ = "SELECT boot, origin FROM anchor"

_WRITE = "INSERT OR REPLACE INTO anchor (id, boot, origin) VALUES (1, ?, ?)"

_LATEST = "SELECT max(at) FROM spent"


def quota_clock(database: Database, machine: MachineTime) -> Callable[[], float]:
    """Return a clock in seconds since the epoch that all processes on the quota's `database` share.

    It is the sum of the uptime and an origin stored in the database. The first process after a boot sets the origin
    so that the clock shows the system time, or the latest time in the database if that is later. A change of the
    system time therefore has no effect until the next boot. Raises Unavailable.
    """
    with database.connection() as connection:
        origin = _stored_origin(connection, machine)
    if origin is None:
        with database.transaction() as connection:
            origin = _stored_origin(connection, machine)
            if origin is None:
                latest = _latest(connection)
                begin = machine.wall() if latest is None else max(machine.wall(), latest)
                origin = begin - machine.uptime()
                connection.execute(_WRITE, (machine.boot, origin))
    start, uptime = origin, machine.uptime

    def now() -> float:
        return start + uptime()

    return now


def _stored_origin(connection: sqlite3.Connection, machine: MachineTime) -> float | None:
    """Return the origin in the database; None if it belongs to another boot."""
    row = connection.execute(_READ).fetchone()
    if row is None or row[0] != machine.boot:
        return None
    origin = float(row[1])
    if not machine.boot:
        # An uptime before the latest charge belongs to another boot. A later one may, too: the clock is then behind
        # the system time by the time that the machine was off, and still exact.
        latest = _latest(connection)
        if latest is not None and origin + machine.uptime() < latest:
            return None
    return origin


def _latest(connection: sqlite3.Connection) -> float | None:
    (latest,) = connection.execute(_LATEST).fetchone()
    return None if latest is None else float(latest)
