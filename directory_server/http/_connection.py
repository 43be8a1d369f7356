"""One connection: its requests answered in order, its time watched, and an answer without an end that takes it over."""

from __future__ import annotations

from typing import Any
from typing import Protocol as Interface

from twisted.internet.interfaces import IAddress, IProtocol, IReactorTime
from twisted.internet.protocol import Protocol, connectionDone
from twisted.protocols.policies import ProtocolWrapper
from twisted.python.failure import Failure
from twisted.web.http_headers import Headers

from ._connections import Connections
from ._output import Output
from ._parser import Message, Parser, Phase
from ._request import Request, RequestHandler
from .errors import ErrorResponse, HttpError
from .proxies import network_of
from .transports import unwrapped

LIMITS = {Phase.REQUEST: 75.0, Phase.HEAD: 10.0, Phase.BODY: 15.0}
"""Seconds that a client has for what the parser waits for, however it spreads its bytes over them."""

LINGER = 2.0
"""Seconds that a client has to close its half of a connection after its last answer was sent (RFC 9112, 9.6)."""

LEFT = 1_000_000
"""Bytes that it may still send in that time."""

CLOSE = 30.0
"""Seconds after which a connection that is closing is cut, whatever keeps it open."""

AHEAD = 16
"""Requests that may wait for the answer to an earlier one, before no more are read."""


class ConnectionSite(RequestHandler, Interface):
    """The attributes and methods of a site that its connections use."""

    clock: IReactorTime
    connections: Connections

    def request(self, connection: Connection, message: Message) -> Request:
        """Return the request for a `message` that was read from `connection`."""

    def error_response(self, error: ErrorResponse, path: bytes) -> bytes:
        """Return the whole response to an invalid request for `path`, and log it."""


class Connection(Protocol):
    """Has requests answered, one after the other.

    It is the channel of twisted.web's Request, to which it lends the transport. It ends in one way only, `_end`, and
    `check` bounds the time that each of its states may take.
    """

    transport: Any

    def __init__(self, site: ConnectionSite) -> None:
        self.site = self.factory = site
        self._request: Request | None = None
        self._head = b""
        self.closing = False
        self._last = False
        self._taking = False
        # Bytes that the client may send while the connection is closed, and when that began; None before.
        self._left: int | None = None
        self._ended = 0.0
        self._successor: IProtocol | None = None

    def connectionMade(self) -> None:
        transport = self.transport
        self._parser = Parser(self.site.clock.seconds)
        # Looked up once: each look-up costs a system call.
        self._peer: IAddress | None = transport.getPeer()
        self._host: IAddress | None = transport.getHost()
        self.network = network_of(str(getattr(self._peer, "host", "")))
        if isinstance(transport, ProtocolWrapper):
            # The PROXY protocol gives the client's address with the first bytes.
            self._peer = self._host = None
        self._output = Output(transport, self.site.connections.budget, self.site.clock.seconds, self._drained)
        self.site.connections.add(self)

    def dataReceived(self, data: bytes) -> None:
        if self._left is not None:
            self._left -= len(data)
            if self._left < 0:
                self.transport.abortConnection()
            return
        self._parser.feed(data)
        self._take()
        if self._successor is not None:
            # What came behind the request is nothing to the one who has the connection now.
            return
        if self._parser.wants_continue and self._request is None and not self.closing:
            self._parser.wants_continue = False
            self._output.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if len(self._parser.messages) > AHEAD:
            self.transport.pauseProducing()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.closing = True
        self._output.lost()
        self._parser.close()
        self.site.connections.remove(self)
        if self._request is not None:
            self._request.connectionLost(reason)

    def finish(self) -> None:
        """Close behind the next answer, which may be under way, or be the one to a request that is still to come."""
        self._last = True
        if self._request is not None:
            self.closing = True

    def leave(self) -> None:
        """Close now, unless a request is under way or is being read."""
        if self._request is None and self._parser.phase is Phase.REQUEST:
            self.loseConnection()

    def check(self, now: float) -> None:
        """Refuse a request that takes too long to come; cut a client that does not read, or does not close."""
        parser = self._parser
        if self._left is not None:
            if now - self._ended >= CLOSE:
                self.transport.abortConnection()
            elif now - self._ended >= LINGER:
                # Below TLS, which waits for the client. The kernel still sends what it has been given.
                unwrapped(self.transport).loseConnection()
        elif self._output.waiting:
            if self._output.is_late(now):
                self._output.abort()
        elif self._request is None and now - parser.since >= LIMITS[parser.phase]:
            if parser.phase is Phase.REQUEST:
                self.loseConnection()
            else:
                seconds = LIMITS[parser.phase]
                reason = f"This server waits {seconds:g} seconds for {parser.phase.value}, and no longer."
                self._refuse(HttpError(408, "timeout", reason))

    def _take(self) -> None:
        """Have the next requests answered that were read, unless one is under way or the client is slow."""
        if self._taking:
            return
        self._taking = True
        messages = self._parser.messages
        while messages and self._is_ready():
            self._answer(messages.popleft())
        self._taking = False
        if self._parser.refusal is not None and self._is_ready():
            self._refuse(self._parser.refusal)

    def _is_ready(self) -> bool:
        """Return whether the next request may be answered."""
        return self._request is None and not self.closing and not self._output.waiting

    def _answer(self, message: Message) -> None:
        if self._last or not message.keep_alive:
            self.closing = True
        self._request = self.site.request(self, message)
        self._request.process()

    def _refuse(self, error: HttpError) -> None:
        """Answer bytes that are no request, and close."""
        self.closing = True
        self._output.write(self.site.error_response(error.refusal, self._parser.path))
        self._end()

    def _drained(self) -> None:
        """Go on for a client that was slow, and has taken all."""
        self._parser.since = self.site.clock.seconds()
        if self._request is None:
            self._next()

    def _next(self) -> None:
        """Turn to what follows an answer."""
        if self.closing:
            self._end()
            return
        self._take()
        if not self._output.waiting and not self._parser.messages and self._left is None:
            self.transport.resumeProducing()

    def _end(self) -> None:
        """Close the connection behind all that was written, leaving the client time to read it (RFC 9112, 9.6).

        A transport that has a producer would not close; one that is closed with bytes unread resets the connection,
        and the client loses what it has not read. So the server closes its half, and ignores what still comes.
        """
        if self._output.waiting or self._left is not None:
            # `_drained` comes back to it.
            return
        self._left, self._ended = LEFT, self.site.clock.seconds()
        self._output.close()
        self.transport.resumeProducing()
        # TLS has an end of its own for what is written.
        plain = not isinstance(self.transport, ProtocolWrapper)
        half_close = plain and getattr(self.transport, "loseWriteConnection", None)
        (half_close or self.transport.loseConnection)()

    # What twisted.web's Request asks of its channel.

    def getPeer(self) -> IAddress:
        """Return the address of the client."""
        if self._peer is None:
            self._peer = self.transport.getPeer()
        return self._peer

    def getHost(self) -> IAddress:
        """Return the address that the client connected to."""
        if self._host is None:
            self._host = self.transport.getHost()
        return self._host

    def isSecure(self) -> bool:
        """Return whether TLS protects the connection."""
        return hasattr(self.transport, "getPeerCertificate")

    def writeHeaders(self, version: bytes, code: bytes, reason: bytes, headers: Headers) -> None:
        """Keep the head of an answer, to be sent with the beginning of its body."""
        assert self._request is not None
        self._head = self._request.head()

    def write(self, data: bytes) -> None:
        """Send a part of the body."""
        if self._head:
            data, self._head = self._head + data, b""
        self._output.write(data)

    def writeSequence(self, parts: list[bytes]) -> None:
        """Send parts of the body."""
        self.write(b"".join(parts))

    def requestDone(self, request: Request) -> None:
        """Turn to the next request."""
        if self._successor is not None:
            self._switch(self._successor)
            return
        if self._head:
            self.write(b"")
        self._request = None
        self._parser.since = self.site.clock.seconds()
        self._next()

    def loseConnection(self) -> None:
        """Close the connection once all that was written is sent."""
        self.closing = True
        self._end()

    def abortConnection(self) -> None:
        """Cut the connection."""
        self._output.abort()

    # Answers without an end.

    def switch_protocol(self, request: Request, protocol: IProtocol) -> bytes:
        """Finish `request` and connect the transport to `protocol`; return the head of the response, still unsent.

        The answer ends where the connection does (RFC 9112, section 6.3), which suits HTTP/1.0 too, and lets the
        same bytes go to everybody. What the client sends from now on goes to `protocol`.
        """
        self.closing = True
        self._successor = protocol
        head = request.head()
        # So that twisted.web writes no head of its own, which would announce chunks.
        request.startedWriting = 1
        request.finish()
        return head

    def _switch(self, protocol: IProtocol) -> None:
        transport = self.transport
        self._output.close()
        # TLS and PROXY wrap the transport, and pass what they receive to a protocol under another name.
        if isinstance(transport, ProtocolWrapper):
            transport.wrappedProtocol = protocol
        else:
            transport.protocol = protocol
        # Reading may have been paused over what the client sent too early.
        transport.resumeProducing()
        protocol.makeConnection(transport)
        self._request = None
        self.site.connections.remove(self)
        self._parser.close()
