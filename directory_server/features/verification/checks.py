"""Checks of targets, with bounds on their number at a time, per minute and per host."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from random import Random
from typing import TYPE_CHECKING

from attrs import define, field, frozen
from twisted.internet.defer import CancelledError, Deferred, DeferredList, TimeoutError
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from ...domain.checks import PackageStatus, RemoteStatus
from ...domain.errors import Unavailable
from .results import PackageCheck, RemoteCheck
from .settings import VerifyConfig
from .tables import Verifications
from .targets import Check, Target, TargetKind

if TYPE_CHECKING:
    from .network import Checkers

LEASE = 300.0
"""Seconds for which a process may check a target that it has claimed."""

DEADLINE = 120.0
"""Seconds after which a check ends without an answer."""

SPREAD = 0.1
"""Greatest share by which the time until the next check is longer, so that checks do not come all at once."""

TOO_LONG = f"The check took longer than {DEADLINE:g} seconds."

Claim = Callable[[int, Collection[str]], Awaitable[Sequence[Target]]]
"""`claim(limit, except_hosts)` returns targets to check: of different hosts, none of `except_hosts`."""


@frozen
class Checked:
    """A check that ended: its target, the result, its duration in seconds, and whether the entry has changed."""

    target: Target
    check: Check
    seconds: float
    is_change: bool


@define(eq=False)
class Checks:
    """Starts checks and records their results.

    `now` returns seconds since the epoch, `clock` measures durations. `observe` gets each recorded check.
    """

    _verifications: Verifications
    _checkers: Checkers
    _clock: IReactorTime
    _now: Callable[[], float]
    _settings: VerifyConfig
    _observe: Callable[[Checked], None]
    _random: Random = field(factory=Random)
    _running: dict[str, tuple[Target, Deferred[None]]] = field(factory=dict, init=False)
    _cooling: dict[str, float] = field(factory=dict, init=False)
    """The times from which hosts may be checked again."""
    _tokens: float = field(default=0.0, init=False)
    _filled: float | None = field(default=None, init=False)

    _log = Logger()

    def __len__(self) -> int:
        """Return the number of checks that run."""
        return len(self._running)

    @property
    def is_waiting(self) -> bool:
        """Whether a check runs, or a host or the process must wait before its next check."""
        return bool(self._running or self._busy_hosts() or self._allowance() < 1)

    async def start(self, claim: Claim) -> int:
        """Start as many of the checks that `claim` returns as the limits allow; return their number."""
        allowed = min(self._settings.concurrency - len(self._running), int(self._allowance()))
        if allowed < 1:
            return 0
        targets = await claim(allowed, self._busy_hosts())
        self._tokens -= len(targets)
        for target in targets:
            self._start(target)
        return len(targets)

    async def close(self) -> None:
        """Cancel the running checks and wait for them. Their results are not recorded."""
        running = [check for _, check in self._running.values()]
        ended = DeferredList(running, consumeErrors=True)
        for check in running:
            check.cancel()
        await ended

    def _allowance(self) -> float:
        """Return the number of checks that may start now, at most those of one second or `concurrency`."""
        now, rate = self._clock.seconds(), self._settings.per_minute / 60
        most = max(1.0, min(rate, self._settings.concurrency))
        since = 0.0 if self._filled is None else now - self._filled
        self._tokens = most if self._filled is None else min(most, self._tokens + since * rate)
        self._filled = now
        return self._tokens

    def _busy_hosts(self) -> Collection[str]:
        now = self._clock.seconds()
        self._cooling = {host: until for host, until in self._cooling.items() if until > now}
        return {*self._cooling, *(target.host for target, _ in self._running.values())}

    def _start(self, target: Target) -> None:
        self._cooling[target.host] = self._clock.seconds() + 60 / self._settings.per_host
        running = Deferred.fromCoroutine(self._run(target))
        if not running.called:
            self._running[target.id] = target, running
        running.addErrback(self._failed, target)
        running.addBoth(lambda _: self._running.pop(target.id, None) and None)

    async def _run(self, target: Target) -> None:
        began = self._clock.seconds()
        running: Deferred[Check] = Deferred.fromCoroutine(self._check(target))
        try:
            check = await running.addTimeout(DEADLINE, self._clock)
        except TimeoutError:
            check = self._timed_out(target)
        seconds = self._clock.seconds() - began
        spread = 1 + SPREAD * self._random.random()
        is_change = await self._verifications.record(target, check, self._settings, spread=spread)
        self._observe(Checked(target, check, seconds, is_change))

    async def _check(self, target: Target) -> Check:
        if target.kind is TargetKind.REMOTE:
            return await self._checkers.remotes.check(target.identifier, target.type, target.headers_needed)
        return await self._checkers.packages.check(target.type, target.identifier, target.version, target.name)

    def _timed_out(self, target: Target) -> Check:
        now = self._now()
        if target.kind is TargetKind.REMOTE:
            return RemoteCheck(target.identifier, target.type, now, RemoteStatus.UNREACHABLE, detail=TOO_LONG)
        return PackageCheck(
            target.type, target.identifier, target.version, now, PackageStatus.UNREACHABLE, detail=TOO_LONG
        )

    def _failed(self, failure: Failure, target: Target) -> None:
        """Log an error that is not one of the target. The target is checked again when its lease has ended."""
        if failure.check(CancelledError):
            return
        if failure.check(Unavailable):
            self._log.warn("A check of {name} cannot be stored now", name=target.name)
        else:
            self._log.failure("Unexpected error while checking {name}", failure=failure, name=target.name)
