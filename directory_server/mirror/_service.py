"""Service that runs the sync runs of an upstream when they are due."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve
from twisted.application.service import Service
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from ..domain.errors import DirectoryError, Unavailable
from ..domain.upstreams import UpstreamState
from ._mirror import Mirror
from ._upstream import Upstream

CHECK_INTERVAL = 30.0
"""Seconds between two checks whether a sync run is due; another process may have run it meanwhile."""


class UpstreamService(Service):
    """Sync `upstream` whenever it is due, unless another process does; `now` returns seconds since the epoch."""

    _log = Logger()

    def __init__(self, mirror: Mirror, upstream: Upstream, clock: IReactorTime, now: Callable[[], float]) -> None:
        self._mirror = mirror
        self._upstream = upstream
        self._clock = clock
        self._now = now
        self.state = UpstreamState(upstream.name)
        """The state of the upstream at the last check."""
        self.is_syncing = False
        """Whether this process runs a sync run."""
        self._is_requested = False
        self._next: IDelayedCall | None = None
        self._running: Deferred[None] | None = None

    def startService(self) -> None:
        super().startService()
        self._next = self._clock.callLater(0, self._check)

    def stopService(self) -> Deferred[None] | None:
        super().stopService()
        if self._next is not None:
            self._next.cancel()
            self._next = None
        if self._running is None:
            return None
        # Published entries stay; the sync run continues from there after a restart.
        ended: Deferred[None] = Deferred()
        self._running.chainDeferred(ended)
        self._running.cancel()
        return ended

    def sync_now(self) -> bool:
        """Start a sync run, which is not due; return False if the service is stopped or a check is in progress."""
        if self._next is None:
            return False
        self._next.cancel()
        self._is_requested = True
        self._check()
        return True

    def _check(self) -> None:
        self._next = None
        running = self._running = Deferred.fromCoroutine(self._sync_if_due())
        running.addErrback(self._log_failure)
        running.addCallback(self._schedule)

    async def _sync_if_due(self) -> None:
        try:
            is_requested, self._is_requested = self._is_requested, False
            self.state = await self._mirror.load_state(self._upstream)
            if is_requested or self.state.next_run <= self._now():
                await self._sync()
                self.state = await self._mirror.load_state(self._upstream)
        except Unavailable as error:
            # The stored state does not have this error.
            if self.state.error != error.message:
                self._log.error("Upstream {name}: {error}", name=self._upstream.name, error=error.message)
            self.state = evolve(self.state, error=error.message, failures=self.state.failures + 1)

    async def _sync(self) -> None:
        """Run a sync run. Raises Unavailable if the store failed, because the mirror cannot store that error."""
        self.is_syncing = True
        try:
            await self._mirror.sync(self._upstream)
        except Unavailable:
            raise
        except DirectoryError:
            # The mirror has stored and logged the error and the time of the next attempt.
            return
        finally:
            self.is_syncing = False

    def _log_failure(self, failure: Failure) -> None:
        if not failure.check(CancelledError):
            self._log.failure(
                "Unexpected error while syncing {name}; retrying", failure=failure, name=self._upstream.name
            )

    def _schedule(self, _: None) -> None:
        self._running = None
        if self.running:
            self._next = self._clock.callLater(CHECK_INTERVAL, self._check)
