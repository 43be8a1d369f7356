"""Queue responses for slow clients, with one memory limit for all connections."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, Protocol

from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer

CHUNK = 64 * 1024
"""Maximum bytes of one write to the transport."""

BUFFERED = 2 * CHUNK
"""Maximum bytes in the transport of a slow client, without the kernel's buffers."""

STALL = 30.0
"""Seconds a client has to read the bytes in the transport."""

MAX_WAIT = 300.0
"""Seconds a slow client has to read all queued responses."""


class Holder(Protocol):
    """What holds bytes in memory for a slow client."""

    def abort(self) -> None:
        """Discard the bytes, call `Budget.forget`, and abort the connection."""


class Budget:
    """A limit for the bytes that are held in memory for slow clients, over all connections.

    While more than `limit` bytes are held, the connection whose client has read nothing for the longest time is
    aborted; for requests, the one that has been incomplete for the longest time.
    """

    def __init__(self, limit: int) -> None:
        self.total = 0
        """Bytes that are held now."""
        self.aborted = 0
        """Connections that were aborted because of the limit."""
        self._limit = limit
        # Ordered by the time of the client's last progress, oldest first.
        self._waiting: OrderedDict[Holder, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiting)

    def note(self, holder: Holder, size: int, *, moved: bool) -> None:
        """Record that `holder` has `size` bytes. `moved` is whether its client has just made progress."""
        self.total += size - self._waiting.get(holder, 0)
        self._waiting[holder] = size
        if moved:
            self._waiting.move_to_end(holder)
        while self.total > self._limit and len(self._waiting) > 1:
            slowest = next(iter(self._waiting))
            self.aborted += 1
            slowest.abort()

    def hold(self, holder: Holder, size: int) -> bool:
        """Record that `holder` has `size` bytes, without progress of its client; return whether it has any."""
        if size:
            self.note(holder, size, moved=False)
        else:
            self.forget(holder)
        return size > 0

    def forget(self, holder: Holder) -> None:
        """Remove a holder that has no bytes any more."""
        self.total -= self._waiting.pop(holder, 0)


@implementer(IPushProducer)
class Output:
    """The queue of response bytes of one connection.

    It is the producer that the transport pauses while the client does not read. While `waiting` is True, the client is
    slow, and no more of its requests should be answered. `drained` is called when the client has read everything.
    """

    __slots__ = (
        "_began",
        "_budget",
        "_drained",
        "_now",
        "_paused",
        "_queue",
        "_queued",
        "_since",
        "_transport",
        "waiting",
    )

    def __init__(self, transport: Any, budget: Budget, now: Callable[[], float], drained: Callable[[], None]) -> None:
        self.waiting = False
        self._transport = transport
        self._budget = budget
        self._now = now
        self._drained = drained
        self._paused = False
        # Each item is the unsent rest of a write, and the full length of that write.
        self._queue: deque[tuple[memoryview, int]] = deque()
        self._queued = 0
        self._began = self._since = 0.0
        transport.registerProducer(self, True)

    def write(self, data: bytes) -> None:
        """Send `data` after all earlier data."""
        if self.waiting or len(data) > CHUNK:
            self._queue.append((memoryview(data), len(data)))
            self._queued += len(data)
            self._send(moved=False)
        else:
            self._transport.write(data)

    def is_late(self, now: float) -> bool:
        """Return whether a time limit of the client has passed at `now`."""
        return self.waiting and (now - self._since >= STALL or now - self._began >= MAX_WAIT)

    def close(self) -> None:
        """Unregister from the transport, which cannot close while it has a producer."""
        self._transport.unregisterProducer()
        self._drained = _nothing

    def lost(self) -> None:
        """Discard the queue of a closed connection."""
        self._queue.clear()
        self._budget.forget(self)
        # Break the reference cycle with the connection.
        self._drained = _nothing

    def abort(self) -> None:
        """Discard the queue and abort the connection."""
        self.lost()
        self._transport.abortConnection()

    def _send(self, *, moved: bool) -> None:
        queue = self._queue
        while queue and not self._paused:
            rest, length = queue.popleft()
            if len(rest) > CHUNK:
                queue.appendleft((rest[CHUNK:], length))
            else:
                # The memoryview kept the whole write in memory until now.
                self._queued -= length
            self._transport.write(bytes(rest[:CHUNK]))
        if self._paused:
            self._budget.note(self, self._queued + BUFFERED, moved=moved)

    # IPushProducer.

    def pauseProducing(self) -> None:
        now = self._now()
        self._paused = True
        self._since = now
        # Do not read more requests from a client that does not read the responses.
        self._transport.pauseProducing()
        if not self.waiting:
            self.waiting = True
            self._began = now
            self._budget.note(self, self._queued + BUFFERED, moved=True)

    def resumeProducing(self) -> None:
        self._paused = False
        self._send(moved=True)
        if not self._paused:
            self.waiting = False
            self._budget.forget(self)
            self._drained()

    def stopProducing(self) -> None:
        """Do nothing: connectionLost follows."""


def _nothing() -> None:
    """Do nothing."""
