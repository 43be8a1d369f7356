"""The Bus in memory."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field
from twisted.logger import Logger


@define(eq=False)
class BusGroup:
    """The listeners of all buses that announce the same data."""

    listeners: list[Callable[[], None]] = field(factory=list)


@define(eq=False)
class MemoryBus:
    """Wakes the listeners of all buses of its group at each announcement."""

    _log = Logger()

    _group: BusGroup = field(factory=BusGroup)

    def announce(self) -> None:
        for wake in self._group.listeners:
            try:
                wake()
            except Exception:
                self._log.failure("A listener failed when it was woken")

    def subscribe(self, wake: Callable[[], None]) -> None:
        self._group.listeners.append(wake)
