"""A connection of HTTP/1.1, and how an answer that has no end takes it over."""

from __future__ import annotations

from typing import Any

from twisted.application.service import Service
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IProtocol, IReactorTime
from twisted.internet.protocol import connectionDone
from twisted.logger import Logger
from twisted.protocols.policies import ProtocolWrapper
from twisted.python.failure import Failure
from twisted.web.http import HTTPChannel
from twisted.web.server import Request


class Connection(HTTPChannel):
    """Parses requests until one of them is answered without an end; then nothing of HTTP stays in memory."""

    transport: Any
    site: Any
    _heir: IProtocol | None = None

    def connectionMade(self) -> None:
        super().connectionMade()
        self.site.connections.add(self)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        super().connectionLost(reason)
        self.site.connections.remove(self)

    def finish(self) -> None:
        """Close after the answer to the request that is under way, or now if there is none."""
        self.persistent = False
        if not self.requests:
            self.loseConnection()

    def hand_over(self, request: Request, heir: IProtocol) -> bytes:
        """Finish `request` and leave the connection to `heir`; return the head of the answer, for `heir` to send.

        The answer ends where the connection does (RFC 9112, section 6.3), which suits HTTP/1.0 too, and lets the
        same bytes go to everybody. What the client sends from now on goes to `heir`.
        """
        headers = request.responseHeaders
        headers.setRawHeaders(b"Connection", [b"close"])
        lines = [b"%s %d %s" % (request.clientproto, request.code, request.code_message)]
        lines += [b"%s: %s" % (name, value) for name, values in headers.getAllRawHeaders() for value in values]
        self._heir = heir
        # So that twisted.web writes no head of its own, which would announce chunks.
        request.startedWriting = 1
        request.finish()
        return b"\r\n".join(lines) + b"\r\n\r\n"

    def requestDone(self, request: Request) -> None:
        if self._heir is None:
            super().requestDone(request)
            return
        # As the channel does before it turns to the next request, of which there will be none.
        self.requests.remove(request)
        transport = self.transport
        transport.unregisterProducer()
        # TLS and PROXY wrap the transport, and pass what they receive to a protocol under another name.
        if isinstance(transport, ProtocolWrapper):
            transport.wrappedProtocol = self._heir
        else:
            transport.protocol = self._heir
        # Reading may have been paused over what the client sent too early.
        transport.resumeProducing()
        self._heir.makeConnection(transport)
        self.site.connections.remove(self)


class Connections(Service):
    """The open connections of HTTP. When it stops, what they have been asked is answered, within `grace` seconds."""

    _log = Logger()

    def __init__(self, clock: IReactorTime, grace: float) -> None:
        self._clock = clock
        self._grace = grace
        self._open: set[Connection] = set()
        self._closed: Deferred[None] | None = None

    def add(self, connection: Connection) -> None:
        """Take a connection in; one that comes too late is let go."""
        self._open.add(connection)
        if self._closed is not None:
            connection.finish()

    def remove(self, connection: Connection) -> None:
        """Forget a connection that is gone or has been handed over."""
        self._open.discard(connection)
        if self._closed is not None and not self._open and not self._closed.called:
            self._closed.callback(None)

    def stopService(self) -> Deferred[None]:
        super().stopService()
        if not self._open:
            return succeed(None)
        self._closed = Deferred()
        for connection in list(self._open):
            connection.finish()
        return self._closed.addTimeout(self._grace, self._clock).addErrback(self._late)

    def _late(self, _: Failure) -> None:
        self._log.warn("{count} connections are cut while they are answered", count=len(self._open))
