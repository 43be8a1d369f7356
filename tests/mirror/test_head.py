"""The head of a response is bounded, however it is delivered."""

from __future__ import annotations

from typing import Any

import pytest
from twisted.internet.testing import MemoryReactorClock, StringTransport
from twisted.python.failure import Failure
from twisted.web._newclient import Request, ResponseFailed
from twisted.web.http_headers import Headers

from directory_server.mirror import UpstreamFailed
from directory_server.mirror._client import client
from directory_server.mirror._head import MAX_HEAD, PIECE, HeadBoundedProtocol

STATUS = b"HTTP/1.1 200 OK\r\n"


class Transport(StringTransport):
    """A transport that closes as TLS does: it waits for a peer that never answers."""

    def loseConnection(self) -> None:
        pass

    def abortConnection(self) -> None:
        self.disconnected = True


def test_the_client_bounds_heads() -> None:
    reactor = MemoryReactorClock()
    following = client(reactor, reactor.seconds)
    following.fetch({}, 100)._client.get("http://127.0.0.1/")
    factory: Any = reactor.tcpClients[0][2]
    assert isinstance(factory.buildProtocol(None)._wrappedProtocol, HeadBoundedProtocol)


def asked() -> tuple[HeadBoundedProtocol, Transport, list[Any]]:
    """Return a connection on which a request has been sent, its transport, and the results of the request."""
    protocol, transport, results = HeadBoundedProtocol(), Transport(), list[Any]()
    protocol.makeConnection(transport)
    protocol.request(Request(b"GET", b"/", Headers({b"host": [b"h"]}), None, persistent=True)).addBoth(results.append)
    return protocol, transport, results


def flood(protocol: HeadBoundedProtocol, results: list[Any], line: bytes, size: int) -> int:
    """Deliver `line` again and again, `size` bytes at a time, until the request ends; return the bytes delivered."""
    delivered, text = 0, line * (size // len(line) + 1)
    while not results:
        assert delivered < 4 * MAX_HEAD, "the head has no limit"
        protocol.dataReceived(text)
        delivered += len(text)
    return delivered


@pytest.mark.parametrize("size", [1, 1_000, 100_000])
@pytest.mark.parametrize(
    ("start", "line"),
    [
        (STATUS, b"x: y\r\n"),
        (STATUS, b" continued\r\n"),
        (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    ],
    ids=["headers", "folded", "1xx"],
)
def test_a_head_without_end_ends_the_request_and_the_connection(start: bytes, line: bytes, size: int) -> None:
    protocol, transport, results = asked()
    protocol.dataReceived(start + (b"a: b\r\n" if start else b""))
    delivered = flood(protocol, results, line, size)
    assert delivered <= MAX_HEAD + max(size, PIECE) + 2 * len(line)
    (failure,) = results
    assert isinstance(failure, Failure)
    assert isinstance(failure.value, ResponseFailed)
    assert failure.value.reasons[0].check(UpstreamFailed)
    assert transport.disconnected


def test_the_body_does_not_count() -> None:
    protocol, _, results = asked()
    body = b"x" * (2 * MAX_HEAD)
    protocol.dataReceived(STATUS + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    (response,) = results
    assert response.length == len(body)
    assert protocol.state == "QUIESCENT"


def test_each_request_on_a_connection_has_the_whole_limit() -> None:
    protocol, _, _ = asked()
    for _ in range(3):
        protocol.dataReceived(STATUS + b"a: b\r\n" * (MAX_HEAD // 8) + b"Content-Length: 0\r\n\r\n")
        again: list[Any] = []
        protocol.request(Request(b"GET", b"/", Headers({b"host": [b"h"]}), None, persistent=True)).addBoth(again.append)
    assert again == []


def test_a_connection_that_is_given_up_does_not_wait_for_the_peer() -> None:
    protocol, transport, _ = asked()
    protocol.dataReceived(b"no HTTP at all\r\n")
    assert transport.disconnected
