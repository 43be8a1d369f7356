"""An upstream as a service: a round of it whenever its time has come."""

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

LOOK = 30.0
"""Seconds between two looks at whether it is due; another process may have taken the round meanwhile."""


class UpstreamService(Service):
    """Take a round of `upstream` whenever it is due, unless another process does; `now` is seconds since the epoch."""

    _log = Logger()

    def __init__(self, mirror: Mirror, upstream: Upstream, clock: IReactorTime, now: Callable[[], float]) -> None:
        self._mirror = mirror
        self._upstream = upstream
        self._clock = clock
        self._now = now
        self.state = UpstreamState(upstream.name)
        """What was known of it at the last look."""
        self._next: IDelayedCall | None = None
        self._round: Deferred[None] | None = None

    def startService(self) -> None:
        super().startService()
        self._next = self._clock.callLater(0, self._look)

    def stopService(self) -> Deferred[None] | None:
        super().stopService()
        if self._next is not None:
            self._next.cancel()
            self._next = None
        if self._round is None:
            return None
        # What is published stays, and the round goes on from there when the service is back.
        ended: Deferred[None] = Deferred()
        self._round.chainDeferred(ended)
        self._round.cancel()
        return ended

    def _look(self) -> None:
        self._next = None
        taking = self._round = Deferred.fromCoroutine(self._take())
        taking.addErrback(self._broke)
        taking.addCallback(self._rest)

    async def _take(self) -> None:
        try:
            self.state = await self._mirror.known(self._upstream)
            if self.state.next_round <= self._now():
                await self._round_noted()
                self.state = await self._mirror.known(self._upstream)
        except Unavailable as error:
            # What is kept of the upstream still says that all is well.
            if self.state.error != error.message:
                self._log.error("Upstream {name}: {error}", name=self._upstream.name, error=error.message)
            self.state = evolve(self.state, error=error.message, failures=self.state.failures + 1)

    async def _round_noted(self) -> None:
        """Take a round. Raises Unavailable, where the store failed and so the mirror could not note that."""
        try:
            await self._mirror.round(self._upstream)
        except Unavailable:
            raise
        except DirectoryError:
            # The mirror notes and logs what is refused, and when to try again.
            return

    def _broke(self, failure: Failure) -> None:
        if not failure.check(CancelledError):
            self._log.failure("A round of {name} broke; trying again", failure=failure, name=self._upstream.name)

    def _rest(self, _: None) -> None:
        self._round = None
        if self.running:
            self._next = self._clock.callLater(LOOK, self._look)
