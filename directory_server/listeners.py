"""The listeners of a Bus, and a Bus that polls."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from .timers import Timer


class Listeners:
    """Functions that `announce` calls, in the order in which they subscribed. An exception of one is logged."""

    _log = Logger()

    def __init__(self) -> None:
        self._listeners: list[Callable[[], None]] = []

    def announce(self) -> None:
        for wake in self._listeners:
            try:
                wake()
            except Exception:
                self._log.failure("A listener failed when it was woken")

    def subscribe(self, wake: Callable[[], None]) -> None:
        self._listeners.append(wake)


class PollingBus(Listeners, Timer):
    """A Bus that calls `poll` at its start, then every `interval` seconds of `clock`."""

    def __init__(self, poll: Callable[[], object], clock: IReactorTime, interval: float) -> None:
        Listeners.__init__(self)
        Timer.__init__(self, interval, poll, clock)
