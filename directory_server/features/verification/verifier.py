"""Service that checks the remotes and packages of entries when they are due."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from twisted.application.service import Service
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from ...domain.errors import Unavailable
from .checks import LEASE, Checked, Checks
from .tables import Verifications
from .target_planner import TargetPlanner
from .targets import Target, TargetKind

TICK = 1.0
"""Seconds between two starts of checks."""

IDLE = 15.0
"""Seconds between two looks for due targets while there are none, and between two looks for new changes."""

REPORT_INTERVAL = 3_600.0
"""Seconds between two lines of the log about the checks since then."""


class Verifier(Service):
    """Derive targets, and check those of `kinds` that are due. Other processes do not check what this one has claimed.

    `holder` identifies the process.
    """

    _log = Logger()

    def __init__(
        self,
        planner: TargetPlanner,
        checks: Checks,
        verifications: Verifications,
        holder: str,
        kinds: Collection[TargetKind],
        clock: IReactorTime,
    ) -> None:
        self._planner = planner
        self._checks = checks
        self._verifications = verifications
        self._holder = holder
        self._kinds = kinds
        self._clock = clock
        self._next: IDelayedCall | None = None
        self._running: Deferred[None] | None = None
        self._planned_at = self._reported_at = float("-inf")
        self._results: Counter[str] = Counter()
        self._unavailable = False
        self.due = 0
        """The number of due targets when it was last read."""

    def __len__(self) -> int:
        """Return the number of checks that run."""
        return len(self._checks)

    def observe(self, checked: Checked) -> None:
        """Count a check for the log."""
        self._results[f"{checked.target.kind} {checked.check.status}"] += 1

    def startService(self) -> None:
        super().startService()
        self._reported_at = self._clock.seconds()
        self._schedule(0)

    def stopService(self) -> Deferred[None]:
        super().stopService()
        if self._next is not None:
            self._next.cancel()
            self._next = None
        if self._running is not None:
            self._running.cancel()
        return Deferred.fromCoroutine(self._stop())

    async def _stop(self) -> None:
        await self._checks.close()
        try:
            await self._verifications.release(self._holder)
        except Unavailable:
            # The leases end by themselves.
            return

    def _schedule(self, delay: float) -> None:
        self._running = None
        if self.running:
            self._next = self._clock.callLater(delay, self._begin)

    def _begin(self) -> None:
        self._next = None
        running = self._running = Deferred.fromCoroutine(self._step())
        running.addErrback(self._failed)

    async def _step(self) -> None:
        """Plan if that is due, start checks, and schedule the next step."""
        delay = IDLE
        try:
            delay = await self._work()
        finally:
            self._schedule(delay)

    async def _work(self) -> float:
        """Plan if that is due, start checks, and return the seconds until the next step."""
        now = self._clock.seconds()
        if now - self._planned_at >= IDLE:
            self._planned_at = now
            await self._planner.update()
            self.due = await self._verifications.due(self._kinds)
        started = await self._checks.start(self._claim)
        self._report(now)
        self._unavailable = False
        return TICK if started or self._checks.is_waiting else IDLE

    async def _claim(self, limit: int, except_hosts: Collection[str]) -> Sequence[Target]:
        return await self._verifications.claim(
            self._holder, limit, seconds=LEASE, kinds=self._kinds, except_hosts=except_hosts
        )

    def _report(self, now: float) -> None:
        if now - self._reported_at >= REPORT_INTERVAL:
            self._reported_at = now
            if self._results:
                counts = ", ".join(f"{number:,} {result}" for result, number in self._results.most_common())
                self._log.info("Checks in the last hour: {counts}", counts=counts, results=dict(self._results))
            self._results.clear()

    def _failed(self, failure: Failure) -> None:
        if failure.check(Unavailable):
            if not self._unavailable:
                self._log.warn("Remotes and packages cannot be checked now: the storage is unavailable")
            self._unavailable = True
        elif not failure.check(CancelledError):
            self._log.failure("Unexpected error while looking for due checks; retrying", failure=failure)
