"""The end of a reactor turn, where work is done once for all requests of the turn."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger


class ReactorTurn:
    """A Turn of the reactor that `clock` belongs to: one delayed call runs all steps of a turn.

    The reactor runs delayed calls after it has read from all sockets that were ready.
    """

    __slots__ = ("_clock", "_steps")

    _log = Logger()

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._steps: list[Callable[[], None]] = []

    def at_end(self, step: Callable[[], None]) -> None:
        """Call `step` at the end of the current turn. At the end of a turn, `step` joins the steps of this end."""
        self._steps.append(step)
        if len(self._steps) == 1:
            self._clock.callLater(0, self._end)

    def _end(self) -> None:
        # Steps may add steps, for example when a response that waited for a commit is logged.
        for step in self._steps:
            try:
                step()
            except Exception:
                self._log.failure("A step at the end of a reactor turn failed")
        self._steps.clear()


class ImmediateTurn:
    """A Turn that ends with each step. For code that runs without a reactor: the command line and tests."""

    def at_end(self, step: Callable[[], None]) -> None:
        """Call `step` now."""
        step()
