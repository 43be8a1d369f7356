"""One stream: frames to a reader, who may be slow, may stop reading and may leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IProtocol, IPushProducer, ITransport
from twisted.python.failure import Failure
from zope.interface import implementer

from ..http.transports import unwrapped
from ._socket import restrain

if TYPE_CHECKING:
    from ._channel import Channel
    from ._hub import Hub

RETRY = 3_000
"""Milliseconds after which a client whose stream broke comes back."""

BOUND = 48 * 1024
"""Bytes that are kept for a reader who lags behind."""

_BEAT = b": \n\n"


class _Backlog:
    """What waits for a reader who lags behind, and since when."""

    __slots__ = ("drained", "frames", "since", "size")

    def __init__(self, since: float) -> None:
        self.since = since
        self.frames: list[bytes] = []
        self.size = 0
        self.drained: list[Deferred[None]] = []


@implementer(IProtocol, IPushProducer)
class Stream:
    """An open stream (WHATWG HTML, section 9.2): all that is left of a connection whose request has been answered.

    It is the protocol of its transport and the producer that the transport pauses while the reader lags behind.
    """

    __slots__ = ("_backlog", "_hub", "_last", "_transport", "beats", "channel", "key_id", "open", "spoke")

    _transport: Any
    spoke: set[Stream]

    def __init__(self, hub: Hub, key_id: str, last: bytes, beats: int) -> None:
        self.key_id = key_id
        self.open = True
        self.channel: Channel | None = None
        self.beats = beats
        self._hub = hub
        self._last = last
        self._backlog: _Backlog | None = None

    def send(self, frame: bytes) -> None:
        """Send one encoded frame, whole or not at all; once the stream has ended, do nothing.

        For a reader who lags behind it is kept, in order; one for whom more than BOUND would have to be kept is cut.
        A reader who does not lag may be sent any length at once; who has more to send waits for `drained`.
        """
        if not self.open:
            return
        backlog = self._backlog
        if backlog is None:
            self._transport.write(frame)
        elif backlog.size + len(frame) > BOUND:
            self.cut()
        else:
            backlog.frames.append(frame)
            backlog.size += len(frame)

    async def drained(self) -> bool:
        """Wait until the reader does not lag behind; return whether the stream is still open then."""
        while self.open and self._backlog is not None:
            waiting: Deferred[None] = Deferred()
            self._backlog.drained.append(waiting)
            await waiting
        return self.open

    def join(self, channel: Channel | None) -> None:
        """Receive from now on what is sent to `channel` instead of what was sent to another."""
        if self.channel is not None:
            self.channel.remove(self)
        self.channel = channel if self.open else None
        if self.channel is not None:
            self.channel.add(self)

    def end(self, retry: int = RETRY) -> None:
        """End the stream in order, asking its reader to come back in `retry` milliseconds."""
        if not self.open:
            return
        rest = self._backlog.frames if self._backlog else []
        self._transport.write(b"".join([*rest, b"retry: %d\n\n" % retry, self._last]))
        self._close()
        self._transport.unregisterProducer()
        self._transport.loseConnection()
        # From here on the reader has as long as any other who lags behind.
        self._backlog = _Backlog(self._hub.seconds())

    def cut(self) -> None:
        """Break the connection off: its reader does not read."""
        self._hub.cuts += 1
        self._close()
        self._transport.abortConnection()

    def beat(self) -> None:
        """Keep the connection alive; cut it if its reader has not read for too long, end it if it is old.

        One that has a last frame is not ended for its age: its reader would take that for good, and not come back.
        """
        if self._backlog is not None:
            if self._hub.seconds() - self._backlog.since >= self._hub.stall:
                self.cut()
            return
        self.beats -= 1
        if self.beats > 0 or self._last:
            self._transport.write(_BEAT)
        else:
            self.end(self._hub.soon())

    def makeConnection(self, transport: ITransport) -> None:
        self._transport = transport
        self._transport.registerProducer(self, True)
        restrain(transport, self._hub.stall)

    def connectionMade(self) -> None:
        """Do nothing: the connection was made long ago."""

    def dataReceived(self, data: bytes) -> None:
        """Ignore what the client still sends: there will be no answer."""

    def connectionLost(self, reason: Failure) -> None:
        if getattr(unwrapped(self._transport), "timed_out", False):
            # The kernel was first (TCP_USER_TIMEOUT).
            self._hub.cuts += 1
        self._close()
        self._hub.forget(self)

    def pauseProducing(self) -> None:
        if self.open and self._backlog is None:
            self._backlog = _Backlog(self._hub.seconds())

    def resumeProducing(self) -> None:
        backlog = self._backlog
        if self.open and backlog is not None:
            self._backlog = None
            if backlog.frames:
                # This may fill the transport, and pause the stream, once more.
                self._transport.write(b"".join(backlog.frames))
            _fire(backlog)

    def stopProducing(self) -> None:
        """Do nothing: the loss of the connection follows."""

    def _close(self) -> None:
        if self.open:
            self.open = False
            self.join(None)
            self._hub.release(self)
            if self._backlog is not None:
                _fire(self._backlog)


def _fire(backlog: _Backlog) -> None:
    waiting, backlog.drained = backlog.drained, []
    for each in waiting:
        each.callback(None)
