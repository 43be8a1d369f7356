"""Service that checks the remotes and packages of entries when they are due."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from attrs import Factory, define, field
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ...domain.changes import Change
from ...domain.errors import Unavailable
from ...domain.patterns import NamePatterns
from ...domain.ports.runtime import Offload
from ...domain.work import VERIFY
from ...runtime.timers import Timer
from ...serialization import restore_entry
from ...services.follower import Followed, Follower
from ...tables import StoredWork
from .checks import LEASE, Checked, Checks
from .tables import Verifications
from .targets import Target, TargetKind, targets_of


def target_planner(
    storage: Followed, verifications: Verifications, patterns: NamePatterns, offload: Offload, clock: Any
) -> Follower:
    """Return what derives the targets of the visible entries whose names `patterns` selects."""

    def targets(changes: Sequence[Change]) -> Mapping[str, Sequence[Target]]:
        entries = {change.mcp_id: restore_entry(change.body) if change.body else None for change in changes}
        return {
            mcp_id: targets_of(entry) if entry is not None and patterns.selects(entry.name) else ()
            for mcp_id, entry in entries.items()
        }

    async def apply(changes: Sequence[Change]) -> bool:
        await verifications.put_targets(await offload(targets, changes))
        return False

    async def version() -> str:
        return patterns.text

    return Follower(storage, clock, lambda: None, "targets of checks", apply, version=version)


TICK = 1.0
"""Seconds between two starts of checks."""

IDLE = 15.0
"""Seconds between two looks for due targets while there are none, and between two looks for new changes."""

LONG_QUEUE = 50
"""Due targets from which the work on them is reported to operators."""

REPORT_INTERVAL = 3_600.0
"""Seconds between two lines of the log about the checks since then."""


@define(eq=False, repr=False)
class Verifier(Timer):
    """Let `planner` derive targets, and check those of `kinds` that are due.

    Other processes do not check what this one has claimed. `holder` identifies the process.
    """

    _log = Logger()

    _planner: Follower
    _checks: Checks
    _verifications: Verifications
    _holder: str
    _kinds: Collection[TargetKind]
    _clock: IReactorTime
    _work_stored: StoredWork
    _queue: tuple[float, int] | None = field(default=None, init=False)
    """When a long queue began, in seconds of the clock, and its greatest length."""
    _idle_until: float = field(default=float("-inf"), init=False)
    _planned_at: float = field(default=float("-inf"), init=False)
    _reported_at: float = field(default=Factory(lambda self: self._clock.seconds(), takes_self=True), init=False)
    _results: Counter[str] = field(factory=Counter, init=False)
    due: int = field(default=0, init=False)
    """The number of due targets when it was last read."""

    def __attrs_post_init__(self) -> None:
        super().__init__(TICK, self._work, self._clock, finish=self._close, cancels=True)

    def __len__(self) -> int:
        """Return the number of checks that run."""
        return len(self._checks)

    def observe(self, checked: Checked) -> None:
        """Count a check for the log."""
        self._results[f"{checked.target.kind} {checked.check.status}"] += 1

    async def _close(self) -> None:
        await self._checks.close()
        await self._planner.release()
        # The leases end by themselves.
        with suppress(Unavailable):
            await self._verifications.release(self._holder)

    async def _work(self) -> None:
        """Plan if that is due, and start checks."""
        now = self._clock.seconds()
        if now < self._idle_until:
            return
        self._idle_until = now + IDLE
        if now - self._planned_at >= IDLE:
            self._planned_at = now
            await self._planner.update()
            self.due = await self._verifications.due(self._kinds)
            await self._report_queue(now)
        started = await self._checks.start(self._claim)
        self._report(now)
        if started or self._checks.is_waiting:
            self._idle_until = now

    async def _claim(self, limit: int, except_hosts: Collection[str]) -> Sequence[Target]:
        return await self._verifications.claim(
            self._holder, limit, seconds=LEASE, kinds=self._kinds, except_hosts=except_hosts
        )

    async def _report_queue(self, now: float) -> None:
        """Report how far the work on a long queue is; all processes work on the same one."""
        is_long = self.due >= LONG_QUEUE
        if is_long or self._queue is not None:
            start, longest = self._queue or (now, 0)
            longest = max(longest, self.due)
            self._queue = (start, longest) if is_long else None
            done = longest - self.due
            await self._work_stored.put(VERIFY, seconds=now - start, done=done, total=longest, has_ended=not is_long)

    def _report(self, now: float) -> None:
        if now - self._reported_at >= REPORT_INTERVAL:
            self._reported_at = now
            if self._results:
                counts = ", ".join(f"{number:,} {result}" for result, number in self._results.most_common())
                self._log.info("Checks in the last hour: {counts}", counts=counts, results=dict(self._results))
            self._results.clear()
