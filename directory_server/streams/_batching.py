"""Run work on many streams in batches, and yield to the reactor between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import Cooperator, deferLater
from twisted.logger import Logger

T = TypeVar("T")

BATCH = 250
"""Streams in one batch. A batch takes about three milliseconds."""

ITERATION = 0.002
"""Seconds of one reactor iteration after which no further batch is started."""

INTERVAL = 0.1
"""Seconds between two batches of work that is spread over a longer time."""


class BatchRunner:
    """Run iterators that do one batch of work per step, fairly, for at most ITERATION seconds at a time."""

    _log = Logger()

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._cooperator = Cooperator(self._time_limit, lambda step: clock.callLater(0, step))

    def run(self, steps: Iterator[Deferred[None] | None]) -> Deferred[Any]:
        """Run `steps` in order and wait for each that is a Deferred; return a Deferred that fires after the last."""
        return self._cooperator.cooperate(steps).whenDone().addErrback(self._log_failure)

    def each(self, items: Sequence[T], call: Callable[[T], None], over: float = 0.0) -> Iterator[Deferred[None] | None]:
        """Yield the steps that call `call` with each of `items`, spread over `over` seconds."""
        size = min(BATCH, ceil(len(items) * INTERVAL / over)) if items and over else BATCH
        for start in range(0, len(items), size):
            if start and over:
                yield deferLater(self._clock, over * size / len(items))
            for item in items[start : start + size]:
                call(item)
            yield None

    def _time_limit(self) -> Callable[[], bool]:
        end = self._clock.seconds() + ITERATION
        return lambda: self._clock.seconds() >= end

    def _log_failure(self, failure: Any) -> None:
        self._log.failure("Some streams may have missed an event", failure=failure)
