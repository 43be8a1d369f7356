"""Group commit: functions that wait for a database run in another thread, many in each transaction."""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from ..domain.errors import DirectoryError, Unavailable
from ..domain.ports.runtime import Offload
from ._connection import is_busy

T = TypeVar("T")

WAIT = 1.0
"""Seconds for which a function waits for its transaction to begin."""

COMMIT = 10.0
"""Seconds for which a function waits for its transaction to end, counted from the same moment as WAIT."""

MAX_WAITING = 5_000
"""The most waiting functions; further ones fail at once."""

MAX_TOGETHER = 500
"""Functions in one transaction."""


class Begin(Protocol):
    """Database.transaction or Database.snapshot."""

    def __call__(self, *, wait: float | None = None) -> AbstractContextManager[sqlite3.Connection]:
        """Return a connection in a transaction, after waiting at most `wait` seconds for locks."""


@define(eq=False)
class _Job:
    """A function and its caller; `finished` is read and written under the lock of the queue."""

    function: Callable[[sqlite3.Connection], Any]
    deadline: float
    deferred: Deferred[Any]
    finished: bool = False
    outcome: Any = None


@define(eq=False, repr=False)
class TransactionQueue:
    """Runs functions of a connection in transactions of one thread, in their order, many in each (group commit).

    `begin` opens a transaction of the database called `name`, and `offload` runs a function in a thread that nothing
    else uses. `late` is called when functions have waited for too long. All methods are for the reactor's thread. What
    a function returns, or the DirectoryError it raises, is delivered after the commit of its transaction; such an error
    must leave nothing written. Any other error undoes the whole transaction, and is passed to all of its callers.
    """

    _log = Logger()

    _name: str
    _begin: Begin
    clock: IReactorTime
    _offload: Offload
    _late: Callable[[], None] = lambda: None
    _lock: threading.Lock = field(factory=threading.Lock, init=False)
    _waiting: deque[_Job] = field(factory=deque, init=False)
    _running: Sequence[_Job] = field(default=(), init=False)
    _draining: bool = field(default=False, init=False)
    _timer: IDelayedCall | None = field(default=None, init=False)

    def submit(self, function: Callable[[sqlite3.Connection], T]) -> Deferred[T]:
        """Return what `function` returns, once its transaction is committed.

        The Deferred fails with Unavailable when the transaction does not begin within WAIT seconds: then the function
        was not called. It also fails so when the commit takes longer than COMMIT seconds: then it may still succeed.
        A Deferred that is cancelled before the transaction begins takes its function with it.
        """
        if len(self._waiting) >= MAX_WAITING:
            raise self._too_long()
        deferred: Deferred[T] = Deferred(lambda _: self._cancel(job))
        job = _Job(function, self.clock.seconds() + WAIT, deferred)
        with self._lock:
            self._waiting.append(job)
        if self._timer is None:
            self._timer = self.clock.callLater(WAIT, self._expire)
        if not self._draining:
            self._draining = True
            Deferred.fromCoroutine(self._drain()).addErrback(self._failed)
        return deferred

    async def run(self, function: Callable[[], T]) -> T:
        """Return what `function` returns, called in the thread of the queue, between two transactions."""
        return await self._offload(function)

    def stop(self) -> None:
        """Reject waiting functions and cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        with self._lock:
            waiting, self._waiting = self._waiting, deque()
        for job in waiting:
            self._reject(job)

    async def _drain(self) -> None:
        try:
            while self._waiting:
                for job in await self._offload(self._transact):
                    self._finish(job, job.outcome)
        finally:
            self._draining = False

    def _failed(self, failure: Failure) -> None:
        self._log.failure("The transactions of {name} failed", failure=failure, name=self._name)
        with self._lock:
            jobs = [*self._running, *self._waiting]
            self._waiting.clear()
        for job in jobs:
            self._finish(job, failure)

    def _transact(self) -> Sequence[_Job]:
        """Run waiting functions in one transaction; return them with outcomes. For the queue's thread."""
        jobs: Sequence[_Job] = ()
        try:
            with self._begin(wait=WAIT) as connection:
                jobs = self._take()
                for job in jobs:
                    job.outcome = _outcome(job.function, connection)
        except Unavailable as error:
            if not jobs and is_busy(error):
                # The timer rejects functions that waited too long; the others are tried again.
                return ()
            jobs = jobs or self._take()
            _fail(jobs)
        except Exception:
            jobs = jobs or self._take()
            _fail(jobs)
        return jobs

    def _take(self) -> Sequence[_Job]:
        with self._lock:
            jobs: list[_Job] = []
            while self._waiting and len(jobs) < MAX_TOGETHER:
                job = self._waiting.popleft()
                if not job.finished:
                    jobs.append(job)
            self._running = jobs
            return jobs

    def _expire(self) -> None:
        """Reject functions that waited too long; set the timer for the next."""
        now = self.clock.seconds()
        expired = []
        with self._lock:
            while self._waiting and (self._waiting[0].finished or self._waiting[0].deadline <= now):
                expired.append(self._waiting.popleft())
            running = [job for job in self._running if not job.finished]
            expired += [job for job in running if job.deadline + COMMIT - WAIT <= now]
            ends = [job.deadline for job in self._waiting][:1]
            ends += [job.deadline + COMMIT - WAIT for job in running][:1]
        self._timer = self.clock.callLater(max(min(ends) - now, 0.001), self._expire) if ends else None
        if any(not job.finished for job in expired):
            self._late()
        for job in expired:
            self._reject(job)

    def too_late(self) -> Unavailable:
        """Record that work outside of this queue has waited for too long; return its error."""
        self._late()
        return self._too_long()

    def _cancel(self, job: _Job) -> None:
        with self._lock:
            job.finished = True

    def _reject(self, job: _Job) -> None:
        self._finish(job, Failure(self._too_long()))

    def _finish(self, job: _Job, outcome: Any) -> None:
        with self._lock:
            finished, job.finished = job.finished, True
        if not finished:
            job.deferred.callback(outcome)

    def _too_long(self) -> Unavailable:
        return Unavailable(f"{self._name} cannot be used now: it was locked, or its disk was busy, for too long.")


def _outcome(function: Callable[[sqlite3.Connection], Any], connection: sqlite3.Connection) -> Any:
    try:
        return function(connection)
    except Unavailable:
        raise
    except DirectoryError as error:
        return Failure(error)


def _fail(jobs: Sequence[_Job]) -> None:
    for job in jobs:
        job.outcome = Failure()
