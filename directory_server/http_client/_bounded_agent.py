"""HTTP agent that limits the bytes of a response: its head, and its body, both compressed and inflated."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IProtocol, ITransport
from twisted.internet.protocol import Protocol, connectionDone
from twisted.logger import Logger, LogPublisher
from twisted.python.components import proxyForInterface
from twisted.python.failure import Failure
from twisted.web import client
from twisted.web._newclient import HEADER, STATUS, HTTP11ClientProtocol
from twisted.web.client import ResponseDone
from twisted.web.http import PotentialDataLoss
from twisted.web.http_headers import Headers
from twisted.web.iweb import UNKNOWN_LENGTH, IAgent, IBodyProducer, IResponse
from zope.interface import implementer

from ._responses import BadResponse

MAX_HEAD = 65_536
"""Bytes of the status line and headers of a response, with those of all 1xx responses before it."""

PIECE = 4_096
"""Bytes that are parsed at a time while the head is incomplete; a head can exceed MAX_HEAD by this much."""


class HeadBoundedProtocol(HTTP11ClientProtocol):
    """HTTP/1.1 client that fails a request with BadResponse when the response's head exceeds MAX_HEAD.

    Twisted bounds the length of a header line (16,384 bytes) and of the trailers (65,536 bytes), but neither the number
    of header lines nor the number of 1xx responses (RFC 9110, section 15.2). It logs a line for each 1xx response, of
    which a head may contain 2,000 or more; they are not logged here.
    """

    _head = 0
    """Bytes received since the request was sent, while its head is incomplete."""

    _silent = Logger(observer=LogPublisher())

    def makeConnection(self, transport: Any) -> None:
        super().makeConnection(_AbortingTransport(transport))

    def request(self, request: Any) -> Any:
        self._head = 0
        responding = super().request(request)
        if self._parser is not None:
            self._parser._log = self._silent
        return responding

    def dataReceived(self, data: bytes) -> None:
        while data and self._parser is not None and self._parser.state in (STATUS, HEADER):
            piece, data = data[:PIECE], data[PIECE:]
            self._head += len(piece)
            if self._head > MAX_HEAD:
                self._giveUp(Failure(BadResponse(f"It sent more than {MAX_HEAD:,} bytes of headers.")))
                return
            super().dataReceived(piece)
        if data:
            super().dataReceived(data)


class HeadBoundedPool(client.HTTPConnectionPool):
    """Connection pool whose connections are HeadBoundedProtocols."""

    class _factory(client._HTTP11ClientFactory):  # noqa: N801 (the name that HTTPConnectionPool looks for)
        noisy = False

        def buildProtocol(self, addr: object) -> HTTP11ClientProtocol:
            protocol = HeadBoundedProtocol(self._quiescentCallback)
            protocol.factory = self
            return protocol


class _AbortingTransport:
    """Transport that closes without waiting for the peer.

    `loseConnection` on a TLS connection waits for the peer's closing message and goes on receiving meanwhile; a peer
    that never sends it would keep the connection open without end.
    """

    def __init__(self, transport: Any) -> None:
        self._transport = transport

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def loseConnection(self) -> None:
        self._transport.abortConnection()


CHUNK_BYTES = 1 << 16
"""Bytes inflated at a time."""

SMALL_CHUNKS = 10_000
"""Chunks of a body whose size does not matter. Each chunk takes microseconds of the reactor's thread."""

MEAN_CHUNK = 64
"""Minimum mean size of further chunks in bytes."""


@implementer(IAgent)
@frozen(eq=False)
class BoundedAgent:
    """Agent that fails a response whose body exceeds `max_bytes`, compressed or inflated, or comes in tiny chunks.

    It inflates gzip itself, because Twisted's decoder has no limit. It removes cookies from the responses.
    """

    _agent: IAgent
    _max_bytes: int

    def request(
        self, method: bytes, uri: bytes, headers: Headers | None = None, bodyProducer: IBodyProducer | None = None
    ) -> Deferred[IResponse]:
        response: Deferred[IResponse] = self._agent.request(method, uri, headers, bodyProducer)
        return response.addCallback(_BoundedResponse, self._max_bytes)


class _BoundedResponse(proxyForInterface(IResponse)):  # type: ignore[misc]
    def __init__(self, response: IResponse, max_bytes: int) -> None:
        super().__init__(response)
        self._max_bytes = max_bytes
        self._encoding = b",".join(response.headers.getRawHeaders(b"content-encoding", [])).strip().lower()
        self.headers = response.headers.copy()
        # treq must not inflate the body again.
        self.headers.removeHeader(b"content-encoding")
        # treq keeps all cookies and sends them with each request.
        self.headers.removeHeader(b"set-cookie")
        self.length = UNKNOWN_LENGTH if self._encoding else response.length

    def deliverBody(self, protocol: IProtocol) -> None:
        self.original.deliverBody(_Bounded(protocol, self._encoding, self._max_bytes))


class _Bounded(Protocol):
    """Passes a body on to `protocol`, and ends it with BadResponse if it is invalid or too long."""

    def __init__(self, protocol: IProtocol, encoding: bytes, max_bytes: int) -> None:
        self._protocol = protocol
        self._max_bytes = max_bytes
        self._sent = 0
        self._chunks = 0
        self._inflated_bytes = 0
        self._failure: Failure | None = None
        self._gzip = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS) if encoding in (b"gzip", b"x-gzip") else None
        self._unknown = encoding if self._gzip is None and encoding not in (b"", b"identity") else b""

    def makeConnection(self, transport: ITransport) -> None:
        super().makeConnection(transport)
        self._protocol.makeConnection(transport)
        if self._unknown:
            self._fail(f"sent a body in an encoding that was not requested: {self._unknown[:40]!r}")

    def dataReceived(self, data: bytes) -> None:
        if self._failure is not None:
            return
        self._sent += len(data)
        # Twisted calls this method for each chunk (RFC 9112, section 7.1).
        self._chunks += 1
        if self._chunks > SMALL_CHUNKS + self._sent // MEAN_CHUNK:
            self._fail("sent a body in too many small chunks")
            return
        try:
            for chunk in self._inflated(data):
                self._inflated_bytes += len(chunk)
                if max(self._sent, self._inflated_bytes) > self._max_bytes:
                    self._fail(f"sent more than {self._max_bytes:,} bytes")
                    return
                self._protocol.dataReceived(chunk)
        except zlib.error:
            self._fail("sent invalid gzip data")

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        complete = reason.check(ResponseDone, PotentialDataLoss)
        if self._failure is None and complete and self._gzip is not None and self._sent and not self._gzip.eof:
            self._failure = _failure("sent truncated gzip data")
        self._protocol.connectionLost(self._failure or reason)

    def _inflated(self, data: bytes) -> Iterator[bytes]:
        if self._gzip is None:
            yield data
            return
        while data and not self._gzip.eof:
            yield self._gzip.decompress(data, CHUNK_BYTES)
            data = self._gzip.unconsumed_tail

    def _fail(self, reason: str) -> None:
        self._failure = _failure(reason)
        assert self.transport is not None
        self.transport.loseConnection()


def _failure(reason: str) -> Failure:
    return Failure(BadResponse(f"It {reason}."))
