"""The end of a reactor turn, where work is done once for all requests of the turn, and work in limited turns."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ..domain.ports.runtime import Turn

WORK = 0.006
"""Seconds after the begin of the first work of a turn, from which further work waits for the next turn."""


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


class TurnPace:
    """A Pace: `WORK` seconds after the first work of a turn, further work waits, in its order, for the next turns."""

    __slots__ = ("_began", "_clock", "_turn", "_waiting")

    def __init__(self, clock: IReactorTime, turn: Turn) -> None:
        self._clock = clock
        self._turn = turn
        self._began: float | None = None
        """When the first work of the present turn began."""
        self._waiting: deque[Deferred[None]] = deque()

    def __call__(self, *, begun: bool = False) -> Awaitable[None] | None:
        if self._began is None and not self._waiting:
            self._begin()
            return None
        if (begun or not self._waiting) and self._began is not None and not self._is_over():
            return None
        waiting: Deferred[None] = Deferred(self._waiting.remove)
        if begun:
            self._waiting.appendleft(waiting)
        else:
            self._waiting.append(waiting)
        return waiting

    def _begin(self) -> None:
        self._began = self._clock.seconds()
        self._turn.at_end(self._end)

    def _is_over(self) -> bool:
        return self._began is not None and self._clock.seconds() - self._began >= WORK

    def _end(self) -> None:
        self._began = None
        if self._waiting:
            self._clock.callLater(0, self._continue)

    def _continue(self) -> None:
        self._begin()
        while self._waiting and not self._is_over():
            self._waiting.popleft().callback(None)
