"""One event stream: its socket, writes, the backlog of a slow reader, heartbeats and the end."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any, Protocol

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IProtocol, IPushProducer, ITransport
from twisted.python.failure import Failure
from zope.interface import implementer

from ..http.proxies import unwrapped

RETRY = 3_000
"""Milliseconds after which a client reconnects when its stream breaks."""

MAX_BACKLOG = 48 * 1024
"""Maximum bytes of events that are stored for a slow reader."""

HEARTBEAT = b": \n\n"


class StreamHub(Protocol):
    """The attributes and methods of a hub that its streams use."""

    stall: float
    cuts: int

    def seconds(self) -> float:
        """Return the time of the hub's clock."""

    def reconnect_soon(self) -> int:
        """Return a random `retry` in milliseconds for a stream that ends because of its age."""

    def release(self, stream: Stream, /) -> None:
        """Stop counting a stream that has ended."""

    def forget(self, stream: Stream, /) -> None:
        """Remove a stream whose connection is closed."""


class StreamGroup(Protocol):
    """The methods of a channel that its streams call."""

    def add(self, stream: Stream, /) -> None:
        """Add a stream."""

    def remove(self, stream: Stream, /) -> None:
        """Remove a stream."""


class _Backlog:
    """The events that wait for a slow reader; `since` is when the reader stopped reading."""

    __slots__ = ("drained", "events", "since", "size")

    def __init__(self, since: float) -> None:
        self.since = since
        self.events: list[bytes] = []
        self.size = 0
        self.drained: list[Deferred[None]] = []


@implementer(IProtocol, IPushProducer)
class Stream:
    """An open event stream (WHATWG HTML, section 9.2). It replaces the HTTP protocol of its connection.

    It is the protocol of its transport, and the producer that the transport pauses while the reader is slow.
    """

    __slots__ = ("_backlog", "_cut", "_hub", "_last", "_transport", "channel", "heartbeats", "key_id", "open", "slot")

    _transport: Any
    slot: set[Stream]

    def __init__(self, hub: StreamHub, key_id: str, last: bytes, heartbeats: int) -> None:
        self.key_id = key_id
        self.open = True
        self.channel: StreamGroup | None = None
        self.heartbeats = heartbeats
        """Heartbeats until the stream ends because of its age."""
        self._hub = hub
        self._last = last
        self._backlog: _Backlog | None = None
        self._cut = False

    def send(self, event: bytes) -> None:
        """Send one encoded event, completely or not at all. Do nothing if the stream has ended.

        Events for a slow reader are stored in order. The stream is aborted if these exceed MAX_BACKLOG bytes. An event
        of any length may be sent to a reader that is not slow. To send many events, wait for `drained` between them.
        """
        if not self.open:
            return
        backlog = self._backlog
        if backlog is None:
            self._transport.write(event)
        elif backlog.size + len(event) > MAX_BACKLOG:
            self.abort()
        else:
            backlog.events.append(event)
            backlog.size += len(event)

    async def drained(self) -> bool:
        """Wait until the reader has caught up; return whether the stream is still open."""
        while self.open and self._backlog is not None:
            waiting: Deferred[None] = Deferred()
            self._backlog.drained.append(waiting)
            await waiting
        return self.open

    def join(self, channel: StreamGroup | None) -> None:
        """Leave the current channel and join `channel`, if one is given."""
        if self.channel is not None:
            self.channel.remove(self)
        self.channel = channel if self.open else None
        if self.channel is not None:
            self.channel.add(self)

    def end(self, retry: int = RETRY) -> None:
        """Send the backlog, a `retry` of so many milliseconds and the last event, then close the connection."""
        if not self.open:
            return
        events = self._backlog.events if self._backlog else []
        self._transport.write(b"".join([*events, b"retry: %d\n\n" % retry, self._last]))
        self._close()
        self._transport.unregisterProducer()
        self._transport.loseConnection()
        # `heartbeat` aborts the connection if the reader does not read this within `stall` seconds.
        self._backlog = _Backlog(self._hub.seconds())

    def abort(self) -> None:
        """Close the connection at once and count it as that of a slow reader."""
        self._count_cut()
        self._close()
        self._transport.abortConnection()

    def heartbeat(self) -> None:
        """Send a heartbeat, abort a stream whose reader has stalled, or end a stream that is old.

        A stream with a last event does not end because of its age: its client would take that event as final and not
        reconnect.
        """
        if self._backlog is not None:
            if self._hub.seconds() - self._backlog.since >= self._hub.stall:
                self.abort()
            return
        self.heartbeats -= 1
        if self.heartbeats > 0 or self._last:
            self._transport.write(HEARTBEAT)
        else:
            self.end(self._hub.reconnect_soon())

    def makeConnection(self, transport: ITransport) -> None:
        self._transport = transport
        self._transport.registerProducer(self, True)
        limit_buffers(transport, self._hub.stall)

    def connectionMade(self) -> None:
        """Do nothing: the connection was open before."""

    def dataReceived(self, data: bytes) -> None:
        """Ignore data that the client sends after its request."""

    def connectionLost(self, reason: Failure) -> None:
        if getattr(unwrapped(self._transport), "timed_out", False):
            # The kernel aborted the connection (TCP_USER_TIMEOUT), perhaps in the same moment as `abort`.
            self._count_cut()
        self._close()
        self._hub.forget(self)

    def pauseProducing(self) -> None:
        if self.open and self._backlog is None:
            self._backlog = _Backlog(self._hub.seconds())

    def resumeProducing(self) -> None:
        backlog = self._backlog
        if self.open and backlog is not None:
            self._backlog = None
            if backlog.events:
                # This may fill the transport, which then pauses the stream again.
                self._transport.write(b"".join(backlog.events))
            _fire(backlog)

    def stopProducing(self) -> None:
        """Do nothing: connectionLost follows."""

    def _count_cut(self) -> None:
        self._hub.cuts += not self._cut
        self._cut = True

    def _close(self) -> None:
        if self.open:
            self.open = False
            self.join(None)
            self._hub.release(self)
            if self._backlog is not None:
                _fire(self._backlog)


def _fire(backlog: _Backlog) -> None:
    waiting, backlog.drained = backlog.drained, []
    for deferred in waiting:
        deferred.callback(None)


SEND_BUFFER = 16 * 1024
"""Bytes of the kernel's send buffer. Linux doubles the value for its own bookkeeping (socket(7))."""

UNSENT = 512
"""Bytes in the transport from which on the reader counts as slow."""


_TCP = (int(socket.AF_INET), int(socket.AF_INET6))


def limit_buffers(transport: Any, stall: float) -> None:
    """Limit the buffers of a TCP connection, and abort it when its client acknowledges nothing for `stall` seconds."""
    transport = unwrapped(transport)
    handle = transport.getHandle() if hasattr(transport, "getHandle") else None
    # The attribute of socket.socket converts the number to an enumeration, which takes longer than setting an option.
    if not isinstance(handle, socket.socket) or super(socket.socket, handle).family not in _TCP:
        return
    transport.bufferSize = UNSENT
    # A connection that has been reset may have no options left.
    with suppress(OSError):
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # on Linux; tcp(7)
            handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(stall * 1000))
