"""Answers on their way to clients: in pieces, at the pace of each client, within a bound for all of them."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer

PIECE = 64 * 1024
"""Bytes that are given to the transport at a time."""

BUFFERED = 2 * PIECE
"""Bytes that the transport of a slow client holds, at most; the kernel's are not counted."""

STALL = 30.0
"""Seconds in which a client has to take what the transport holds."""

LONGEST = 300.0
"""Seconds in which a slow client has to take all that waits for it."""


class Budget:
    """Bounds the bytes that wait for slow clients, of all connections together.

    While they are more than `most`, the connection is cut whose client has taken nothing for longest.
    """

    def __init__(self, most: int) -> None:
        self.total = 0
        """Bytes that wait now."""
        self.cuts = 0
        """Connections that were cut for this bound."""
        self._most = most
        # By when their clients last took something, longest ago first.
        self._waiting: OrderedDict[Output, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiting)

    def note(self, output: Output, size: int, *, moved: bool) -> None:
        """Note that `size` bytes wait in `output`; `moved` tells that its client has just taken some."""
        self.total += size - self._waiting.get(output, 0)
        self._waiting[output] = size
        if moved:
            self._waiting.move_to_end(output)
        while self.total > self._most and len(self._waiting) > 1:
            slowest = next(iter(self._waiting))
            self.cuts += 1
            slowest.abort()

    def forget(self, output: Output) -> None:
        """Forget an output for which nothing waits any more."""
        self.total -= self._waiting.pop(output, 0)


@implementer(IPushProducer)
class Output:
    """The queue of bytes for the client of one connection.

    It is the producer that the transport pauses while the client does not read. `waiting` tells that the client is
    slow: no more requests should be answered for it until it has taken all, when `drained` is called.
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
        # Each with the length of the whole that it is the rest of.
        self._queue: deque[tuple[memoryview, int]] = deque()
        self._queued = 0
        self._began = self._since = 0.0
        transport.registerProducer(self, True)

    def write(self, data: bytes) -> None:
        """Send `data` behind all that was written before."""
        if self.waiting or len(data) > PIECE:
            self._queue.append((memoryview(data), len(data)))
            self._queued += len(data)
            self._send(moved=False)
        else:
            self._transport.write(data)

    def is_late(self, now: float) -> bool:
        """Return whether the client is too slow at `now`."""
        return self.waiting and (now - self._since >= STALL or now - self._began >= LONGEST)

    def close(self) -> None:
        """Stop being the producer of the transport, which does not close before that."""
        self._transport.unregisterProducer()
        self._drained = _nothing

    def lost(self) -> None:
        """Drop what waits: the connection is gone."""
        self._queue.clear()
        self._budget.forget(self)
        # Or it and the connection would wait for the garbage collector.
        self._drained = _nothing

    def abort(self) -> None:
        """Cut the connection, whatever waits for its client."""
        self.lost()
        self._transport.abortConnection()

    def _send(self, *, moved: bool) -> None:
        queue = self._queue
        while queue and not self._paused:
            rest, whole = queue.popleft()
            if len(rest) > PIECE:
                queue.appendleft((rest[PIECE:], whole))
            else:
                # Until now the whole was kept for its end.
                self._queued -= whole
            self._transport.write(bytes(rest[:PIECE]))
        if self._paused:
            self._budget.note(self, self._queued + BUFFERED, moved=moved)

    # What the transport asks of its producer.

    def pauseProducing(self) -> None:
        now = self._now()
        self._paused = True
        self._since = now
        # A client that does not read the answers gets to send no more requests.
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
        """Do nothing: the loss of the connection follows."""


def _nothing() -> None:
    """Do nothing."""
