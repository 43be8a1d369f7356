"""HTTP agent that limits the bytes of a response body, both compressed and inflated."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IProtocol, ITransport
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.components import proxyForInterface
from twisted.python.failure import Failure
from twisted.web.client import ResponseDone
from twisted.web.http import PotentialDataLoss
from twisted.web.http_headers import Headers
from twisted.web.iweb import UNKNOWN_LENGTH, IAgent, IBodyProducer, IResponse
from zope.interface import implementer

from ._errors import UpstreamFailed

CHUNK_BYTES = 1 << 16
"""Bytes inflated at a time."""


@implementer(IAgent)
@frozen(eq=False)
class BoundedAgent:
    """Agent that fails a response whose body exceeds `max_bytes`, compressed or inflated.

    It inflates gzip itself, because Twisted's decoder has no limit.
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
        # treq must not inflate the body again.
        self.headers = response.headers.copy()
        self.headers.removeHeader(b"content-encoding")
        self.length = UNKNOWN_LENGTH if self._encoding else response.length

    def deliverBody(self, protocol: IProtocol) -> None:
        self.original.deliverBody(_Bounded(protocol, self._encoding, self._max_bytes))


class _Bounded(Protocol):
    """Passes a body on to `protocol`, and ends it with UpstreamFailed if it is invalid or too long."""

    def __init__(self, protocol: IProtocol, encoding: bytes, max_bytes: int) -> None:
        self._protocol = protocol
        self._max_bytes = max_bytes
        self._sent = 0
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
    return Failure(UpstreamFailed(f"It {reason}."))
