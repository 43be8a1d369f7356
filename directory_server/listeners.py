"""The listeners of a Bus."""

from __future__ import annotations

from collections.abc import Callable

from twisted.logger import Logger


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
