"""Reactor lag: how long a request waits before the process starts to handle it."""

from __future__ import annotations

from collections.abc import Callable

from twisted.application.service import Service
from twisted.internet.interfaces import IDelayedCall, IReactorTime

INTERVAL = 1.0
"""Seconds between two measurements."""


class Lag(Service):
    """Measure once a second how many seconds late a timer fires, and pass the number to `observe`."""

    # Not a LoopingCall: it skips missed calls, and would then report no lag.

    def __init__(self, clock: IReactorTime, observe: Callable[[float], None]) -> None:
        self._clock = clock
        self._observe = observe
        self._next: IDelayedCall | None = None

    def startService(self) -> None:
        super().startService()
        self._schedule()

    def stopService(self) -> None:
        super().stopService()
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def _schedule(self) -> None:
        self._due = self._clock.seconds() + INTERVAL
        self._next = self._clock.callLater(INTERVAL, self._measure)

    def _measure(self) -> None:
        lag = max(0.0, self._clock.seconds() - self._due)
        # First, so that an error of `observe` does not end the measurements.
        self._schedule()
        self._observe(lag)
