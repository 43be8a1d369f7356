"""A limit on the bytes before the body of a response, which Twisted's client does not have."""

from __future__ import annotations

from typing import Any

from twisted.python.failure import Failure
from twisted.web import client
from twisted.web._newclient import HEADER, STATUS, HTTP11ClientProtocol

from ._errors import UpstreamFailed

MAX_HEAD = 65_536
"""Bytes of the status line and headers of a response, with those of all 1xx responses before it."""

PIECE = 4_096
"""Bytes that are parsed at a time while the head is incomplete; a head can exceed MAX_HEAD by this much."""


class HeadBoundedProtocol(HTTP11ClientProtocol):
    """HTTP/1.1 client that fails a request with UpstreamFailed when the response's head exceeds MAX_HEAD.

    Twisted bounds the length of a header line (16,384 bytes) and of the trailers (65,536 bytes), but neither the number
    of header lines nor the number of 1xx responses (RFC 9110, section 15.2).
    """

    _head = 0
    """Bytes received since the request was sent, while its head is incomplete."""

    def makeConnection(self, transport: Any) -> None:
        super().makeConnection(_AbortingTransport(transport))

    def request(self, request: Any) -> Any:
        self._head = 0
        return super().request(request)

    def dataReceived(self, data: bytes) -> None:
        while data and self._expects_head():
            piece, data = data[:PIECE], data[PIECE:]
            self._head += len(piece)
            if self._head > MAX_HEAD:
                self._giveUp(Failure(UpstreamFailed(f"It sent more than {MAX_HEAD:,} bytes of headers.")))
                return
            super().dataReceived(piece)
        if data:
            super().dataReceived(data)

    def _expects_head(self) -> bool:
        return self._parser is not None and self._parser.state in (STATUS, HEADER)


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
