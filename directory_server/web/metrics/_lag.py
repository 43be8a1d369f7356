"""How late the reactor is: what a request waits for before anybody looks at it."""

from __future__ import annotations

from collections.abc import Callable

from twisted.application.service import Service
from twisted.internet.interfaces import IDelayedCall, IReactorTime

EVERY = 1.0
"""Seconds between two calls."""


class Lag(Service):
    """Has itself called every second, and tells `observe` how many seconds too late that was."""

    # Not a LoopingCall, which skips what it has missed and then looks punctual.

    def __init__(self, clock: IReactorTime, observe: Callable[[float], None]) -> None:
        self._clock = clock
        self._observe = observe
        self._next: IDelayedCall | None = None

    def startService(self) -> None:
        super().startService()
        self._plan()

    def stopService(self) -> None:
        super().stopService()
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def _plan(self) -> None:
        self._due = self._clock.seconds() + EVERY
        self._next = self._clock.callLater(EVERY, self._measure)

    def _measure(self) -> None:
        self._observe(max(0.0, self._clock.seconds() - self._due))
        self._plan()
