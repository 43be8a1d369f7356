"""Work on many streams in slices, between which the reactor turns to others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import Cooperator, deferLater
from twisted.logger import Logger

T = TypeVar("T")

SLICE = 250
"""Streams that are served without a look at anything else: some three milliseconds."""

TURN = 0.002
"""Seconds of one turn of the reactor after which no further slice is begun."""


STEP = 0.1
"""Seconds between two slices of what is spread over a longer time, which are smaller if that will do."""


class BatchRunner:
    """Runs iterators that do a slice of work in each step, fairly, and no longer than a TURN at a time."""

    _log = Logger()

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._cooperator = Cooperator(self._turn, lambda step: clock.callLater(0, step))

    def run(self, steps: Iterator[Deferred[None] | None]) -> Deferred[Any]:
        """Take `steps`, one by one, waiting where one is a Deferred; return what fires after the last."""
        return self._cooperator.cooperate(steps).whenDone().addErrback(self._failed)

    def each(
        self, items: Sequence[T], serve: Callable[[T], None], over: float = 0.0
    ) -> Iterator[Deferred[None] | None]:
        """Yield the steps that serve every one of `items`, spread over `over` seconds."""
        size = min(SLICE, ceil(len(items) * STEP / over)) if items and over else SLICE
        for start in range(0, len(items), size):
            if start and over:
                yield deferLater(self._clock, over * size / len(items))
            for item in items[start : start + size]:
                serve(item)
            yield None

    def _turn(self) -> Callable[[], bool]:
        end = self._clock.seconds() + TURN
        return lambda: self._clock.seconds() >= end

    def _failed(self, failure: Any) -> None:
        self._log.failure("Some streams may have missed a frame", failure=failure)
