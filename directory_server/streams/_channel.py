"""A group of streams that receive the same events, and work on many streams in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil
from typing import Any, TypeVar

from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import Cooperator, deferLater
from twisted.logger import Logger

from ._stream import Stream

WRITE = 16 * 1024
"""Maximum bytes of pending events in one write. A larger event is written alone."""


class Channel:
    """A group of streams that receive the same events, in order.

    All events that are pending when a broadcast starts go to each stream in one write, up to WRITE bytes. A stream
    receives exactly the events that were sent after it was added.
    """

    def __init__(self, batches: BatchRunner) -> None:
        self._batches = batches
        # Each stream, and the number of events that had been sent when it was added.
        self._streams: dict[Stream, int] = {}
        self._sent = 0
        self._pending: list[bytes] = []
        self._over = 0.0
        self._done: Deferred[None] | None = None

    def __len__(self) -> int:
        return len(self._streams)

    def send(self, event: bytes, *, over: float = 0.0) -> None:
        """Send one encoded event to all current streams, in batches, spread over `over` seconds."""
        if self._streams:
            self._sent += 1
            self._pending.append(event)
            self._over = max(self._over, over)
            if self._done is None:
                self._done = self._batches.run(self._broadcast())

    def flushed(self) -> Deferred[None]:
        """Return a Deferred that fires when no event is pending. Senders of many events wait for it."""
        flushed: Deferred[None] = Deferred()
        if self._done is None:
            return succeed(None)
        self._done.chainDeferred(flushed)
        return flushed

    def each(self, call: Callable[[Stream], None]) -> Deferred[None]:
        """Call `call` with each current stream, in batches; return a Deferred that fires after the last."""
        return self._batches.run(self._batches.each(list(self._streams), call))

    def add(self, stream: Stream) -> None:
        """Add a stream. Only `Stream.join` calls this."""
        self._streams[stream] = self._sent

    def remove(self, stream: Stream) -> None:
        """Remove a stream. Only `Stream.join` calls this."""
        del self._streams[stream]

    def _broadcast(self) -> Iterator[Deferred[None] | None]:
        try:
            while self._pending:
                yield from self._broadcast_once()
        finally:
            self._done = None

    def _broadcast_once(self) -> Iterator[Deferred[None] | None]:
        first = self._sent - len(self._pending)
        events, self._pending = _split(self._pending)
        over, self._over = self._over, 0.0
        joined, end = b"".join(events), first + len(events)

        def send(member: tuple[Stream, int]) -> None:
            stream, added = member
            stream.send(joined if added <= first else b"".join(events[added - first :]))

        return self._batches.each([member for member in self._streams.items() if member[1] < end], send, over)


def _split(events: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Return the events of the next write, and the others."""
    size, count = 0, 0
    for event in events:
        size += len(event)
        if count and size > WRITE:
            break
        count += 1
    return events[:count], events[count:]


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
