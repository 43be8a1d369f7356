"""The Bus in memory."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

from ..listeners import Listeners


class BusGroup(Listeners):
    """The listeners of all buses that announce the same data."""


@define(eq=False)
class MemoryBus:
    """Wakes the listeners of all buses of its group at each announcement."""

    _group: BusGroup = field(factory=BusGroup)

    def announce(self) -> None:
        self._group.announce()

    def subscribe(self, wake: Callable[[], None]) -> None:
        self._group.subscribe(wake)
