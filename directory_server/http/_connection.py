"""One connection: pipelined requests, time limits, orderly close, and the switch to another protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from typing import Protocol as Interface

from twisted.internet.interfaces import IAddress, IDelayedCall, IProtocol, IReactorTime
from twisted.internet.protocol import Protocol, connectionDone
from twisted.protocols.policies import ProtocolWrapper
from twisted.python.failure import Failure

from ._connections import Connections
from ._output import Output
from ._parser import Message, Parser, Phase
from ._request import Request, RequestHandler
from .errors import ErrorResponse, HttpError
from .proxies import network_of, unwrapped

LIMITS = {Phase.REQUEST: 75.0, Phase.HEAD: 10.0, Phase.BODY: 15.0}
"""Maximum seconds of each parser phase, however slowly the bytes arrive."""

LINGER = 2.0
"""Seconds a client has to close its half of the connection after the last response (RFC 9112, section 9.6)."""

LINGER_BYTES = 1_000_000
"""Bytes that the client may send in that time. They are discarded."""

CLOSE = 30.0
"""Seconds after which a closing connection is aborted."""


class ConnectionSite(RequestHandler, Interface):
    """The attributes and methods of a site that its connections use."""

    clock: IReactorTime
    connections: Connections

    def request(self, connection: Connection, message: Message) -> Request:
        """Return the request for a `message` that was read from `connection`."""

    def error_response(self, error: ErrorResponse, path: bytes) -> bytes:
        """Return the whole response to an invalid request for `path`, and log it."""


class Connection(Protocol):
    """One HTTP connection. It answers its requests one after the other, at most one in each reactor turn.

    A client that sends many requests at once therefore delays other clients no more than one request does. All orderly
    closes go through `_end`. `check` enforces the time limit of each state.
    """

    transport: Any
    write: Callable[[bytes], None]
    """Send a whole response."""

    def __init__(self, site: ConnectionSite) -> None:
        self.site = site
        self._request: Request | None = None
        self.closing = False
        self._is_last = False
        self._is_paused = False
        self._is_held = False
        # The call that answers a request in the next turn.
        self._turn: IDelayedCall | None = None
        # Bytes that the client may still send while the connection closes; None before `_end`.
        self._linger: int | None = None
        self._ended = 0.0
        self._successor: IProtocol | None = None

    def connectionMade(self) -> None:
        transport = self.transport
        self._parser = Parser(self.site.clock.seconds)
        self._peer: IAddress | None = transport.getPeer()
        self.network = self.client_network = network_of(str(getattr(self._peer, "host", "")))
        if isinstance(transport, ProtocolWrapper):
            # The PROXY protocol sends the client's address with the first bytes.
            self._peer = None
        self._output = Output(transport, self.site.connections.budget, self.site.clock.seconds, self._drained)
        self.write = self._output.write
        self.site.connections.add(self)

    def dataReceived(self, data: bytes) -> None:
        if self._linger is not None:
            self._linger -= len(data)
            if self._linger < 0:
                self.transport.abortConnection()
            return
        self._parser.feed(data)
        self._answer_next()
        if self._successor is not None:
            # The new protocol does not get data that was received before the switch.
            return
        if self._parser.wants_continue and self._request is None and not self.closing:
            self._parser.wants_continue = False
            self._output.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if self._parser.waiting:
            self._is_paused = True
            self.transport.pauseProducing()
        if self._parser.phase is not Phase.REQUEST or self._is_paused or self._is_held:
            self._hold()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.closing = True
        if self._turn is not None:
            self._turn.cancel()
            self._turn = None
        self._output.lost()
        self._parser.close()
        self.site.connections.remove(self)
        if self._request is not None:
            self._request.connectionLost(reason)

    def close_after_response(self) -> None:
        """Close after the current response, or after the next one if no request is being answered."""
        self._is_last = True
        if self._request is not None:
            self.closing = True

    def close_if_idle(self) -> None:
        """Close now, unless a request is being answered or received."""
        if self._request is None and self._turn is None and self._parser.phase is Phase.REQUEST:
            self.loseConnection()

    def check(self, now: float) -> None:
        """Enforce the time limits at `now`, in seconds of the clock.

        A request that arrives too slowly gets a 408. A client that does not read or close is disconnected.
        """
        parser = self._parser
        if self._linger is not None:
            if now - self._ended >= CLOSE:
                self.transport.abortConnection()
            elif now - self._ended >= LINGER:
                # TLS would wait for the client. The kernel still sends the bytes in its buffer.
                unwrapped(self.transport).loseConnection()
        elif self._output.waiting:
            if self._output.is_late(now):
                self._output.abort()
        elif self._request is None and now - parser.since >= LIMITS[parser.phase]:
            if parser.phase is Phase.REQUEST:
                self.loseConnection()
            else:
                seconds = LIMITS[parser.phase]
                reason = f"The client has {seconds:g} seconds to send {parser.phase.value}."
                self._respond_with_error(HttpError(408, "timeout", reason))

    def _answer_next(self) -> None:
        """Answer the first queued request, unless another one is pending, the client is slow or it is not its turn."""
        if not self._is_ready():
            return
        parser = self._parser
        if parser.messages:
            connections = self.site.connections
            address = connections.proxies.forwarded_address(self.getPeer(), parser.messages[0].headers)
            self.client_network = network_of(address)
            if not connections.turns.admits(self.client_network):
                self._turn = self.site.clock.callLater(0, self._continue)
                return
            message = parser.messages.popleft()
            if self._is_last or not message.keep_alive:
                self.closing = True
            self._request = request = self.site.request(self, message)
            self.site.respond(request)
        elif parser.error is not None:
            self._respond_with_error(parser.error)

    def _is_ready(self) -> bool:
        """Return whether the next request may be answered."""
        return self._request is None and self._turn is None and not self.closing and not self._output.waiting

    def _respond_with_error(self, error: HttpError) -> None:
        """Send an error response for an invalid request, and close."""
        self.closing = True
        self._output.write(self.site.error_response(error.response, self._parser.path))
        self._end()

    def _drained(self) -> None:
        """Continue after a slow client has read everything."""
        self._parser.since = self.site.clock.seconds()
        # The output has paused reading, too.
        self._is_paused = True
        if self._request is None:
            self._next()

    def _next(self) -> None:
        """Continue after a response: close, or answer the next request in the next turn."""
        if self.closing:
            self._end()
        elif self._is_ready():
            self._turn = self.site.clock.callLater(0, self._continue)

    def _continue(self) -> None:
        """Answer a request that has waited for this turn."""
        self._turn = None
        self._parser.parse()
        self._answer_next()
        if self._is_paused and not self.closing and not self._output.waiting and not self._parser.waiting:
            self._is_paused = False
            self.transport.resumeProducing()
        self._hold()

    def _hold(self) -> None:
        """Count the memory of incomplete and waiting requests."""
        if self._successor is None:
            self._is_held = self.site.connections.incoming.hold(self, self._parser.held)

    def abort(self) -> None:
        """Abort the connection, which has an incomplete or waiting request."""
        self.site.connections.incoming.forget(self)
        self.abortConnection()

    def _end(self) -> None:
        """Close the connection after all written data, and give the client time to read it (RFC 9112, section 9.6).

        A socket that is closed with unread bytes resets the connection, and the client loses data. So the server
        closes its half and discards what it still receives.
        """
        if self._output.waiting or self._linger is not None:
            # `_drained` calls this method again.
            return
        self._linger, self._ended = LINGER_BYTES, self.site.clock.seconds()
        self._output.close()
        self.transport.resumeProducing()
        # TLS cannot close one half.
        plain = not isinstance(self.transport, ProtocolWrapper)
        half_close = plain and getattr(self.transport, "loseWriteConnection", None)
        (half_close or self.transport.loseConnection)()

    # The interface for requests.

    def getPeer(self) -> IAddress:
        """Return the address of the client."""
        if self._peer is None:
            self._peer = self.transport.getPeer()
        return self._peer

    def isSecure(self) -> bool:
        """Return whether the connection uses TLS."""
        return hasattr(self.transport, "getPeerCertificate")

    def finished(self, request: Request) -> None:
        """Continue after the response to `request`."""
        if self._successor is not None:
            self._connect(self._successor)
            return
        self._request = None
        parser = self._parser
        parser.since = self.site.clock.seconds()
        # Most clients wait for the response before they send more.
        if self.closing or self._is_paused or parser.messages or parser.error is not None:
            self._next()

    def loseConnection(self) -> None:
        """Close the connection after all written data is sent."""
        self.closing = True
        self._end()

    def abortConnection(self) -> None:
        """Close the connection at once."""
        self._output.abort()

    # Event streams.

    def switch_protocol(self, request: Request, protocol: IProtocol) -> bytes:
        """Finish `request` and connect the transport to `protocol`; return the head of the response, still unsent.

        The response ends with the connection (RFC 9112, section 6.3). This works for HTTP/1.0 too, and all streams can
        be sent the same bytes. `protocol` receives what the client sends from now on.
        """
        self.closing = True
        self._successor = protocol
        head = request.head()
        request.switched()
        return head

    def _connect(self, protocol: IProtocol) -> None:
        transport = self.transport
        self._output.close()
        # Wrappers (TLS, PROXY) have their own name for the protocol above them.
        if isinstance(transport, ProtocolWrapper):
            transport.wrappedProtocol = protocol
        else:
            transport.protocol = protocol
        if self._is_paused:
            transport.resumeProducing()
        protocol.makeConnection(transport)
        self._request = None
        self.site.connections.remove(self)
        self._parser.close()
