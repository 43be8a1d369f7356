"""Streams that are sent the same frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from twisted.internet.defer import Deferred, succeed

from ._batching import BatchRunner

if TYPE_CHECKING:
    from ._stream import Stream

ROUND = 16 * 1024
"""Bytes of waiting frames that go out together, unless one alone has more."""


class Channel:
    """Streams that are sent the same frames, whatever these mean.

    Frames go out in order, in rounds: all that wait when a round begins go to each stream in one write. A stream is
    sent exactly what was sent to the channel after it joined.
    """

    def __init__(self, slices: BatchRunner) -> None:
        self._slices = slices
        # Each stream, and how many frames had been sent when it joined.
        self._streams: dict[Stream, int] = {}
        self._sent = 0
        self._waiting: list[bytes] = []
        self._over = 0.0
        self._done: Deferred[None] | None = None

    def __len__(self) -> int:
        return len(self._streams)

    def send(self, frame: bytes, *, over: float = 0.0) -> None:
        """Send one encoded frame to every stream now here, in slices, spread over `over` seconds."""
        if self._streams:
            self._sent += 1
            self._waiting.append(frame)
            self._over = max(self._over, over)
            if self._done is None:
                self._done = self._slices.run(self._rounds())

    def flushed(self) -> Deferred[None]:
        """Return what fires when all that has been sent was handed to the streams; who sends a lot waits for it."""
        flushed: Deferred[None] = Deferred()
        if self._done is None:
            return succeed(None)
        self._done.chainDeferred(flushed)
        return flushed

    def each(self, serve: Callable[[Stream], None]) -> Deferred[None]:
        """Call `serve` with every stream now here, in slices; return what fires after the last."""
        return self._slices.run(self._slices.each(list(self._streams), serve))

    def add(self, stream: Stream) -> None:
        """Let a stream in; see Stream.join."""
        self._streams[stream] = self._sent

    def remove(self, stream: Stream) -> None:
        """Let a stream go; see Stream.join."""
        del self._streams[stream]

    def _rounds(self) -> Iterator[Deferred[None] | None]:
        try:
            while self._waiting:
                yield from self._round()
        finally:
            self._done = None

    def _round(self) -> Iterator[Deferred[None] | None]:
        first = self._sent - len(self._waiting)
        frames, self._waiting = _first(self._waiting)
        over, self._over = self._over, 0.0
        whole, after = b"".join(frames), first + len(frames)

        def serve(member: tuple[Stream, int]) -> None:
            stream, joined = member
            stream.send(whole if joined <= first else b"".join(frames[joined - first :]))

        return self._slices.each([each for each in self._streams.items() if each[1] < after], serve, over)


def _first(frames: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Part what goes out in one round from the rest."""
    size, count = 0, 0
    for frame in frames:
        size += len(frame)
        if count and size > ROUND:
            break
        count += 1
    return frames[:count], frames[count:]
