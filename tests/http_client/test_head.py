"""The size of a response's header section is bounded for any chunk size."""

from __future__ import annotations

from typing import Any

import pytest
from twisted.internet.testing import MemoryReactorClock, StringTransport
from twisted.python.failure import Failure
from twisted.web._newclient import Request, ResponseFailed
from twisted.web.http_headers import Headers

from directory_server.http_client import MAX_HEAD, PIECE, BadResponse, HeadBoundedProtocol
from directory_server.mirror._client import client

from ..logs import captured_lines

STATUS = b"HTTP/1.1 200 OK\r\n"


class Transport(StringTransport):
    """A transport whose clean close never completes, as with TLS and an unresponsive peer."""

    def loseConnection(self) -> None:
        pass

    def abortConnection(self) -> None:
        self.disconnected = True


def test_the_client_bounds_header_sections() -> None:
    reactor = MemoryReactorClock()
    upstream_client = client(reactor, reactor.seconds)
    upstream_client.fetch({}, 100)._client.get("http://127.0.0.1/")
    factory: Any = reactor.tcpClients[0][2]
    assert isinstance(factory.buildProtocol(None)._wrappedProtocol, HeadBoundedProtocol)


def start_request() -> tuple[HeadBoundedProtocol, Transport, list[Any]]:
    """Send a request; return its connection, transport and list of results."""
    protocol, transport, results = HeadBoundedProtocol(), Transport(), list[Any]()
    protocol.makeConnection(transport)
    protocol.request(Request(b"GET", b"/", Headers({b"host": [b"h"]}), None, persistent=True)).addBoth(results.append)
    return protocol, transport, results


def send_repeatedly(protocol: HeadBoundedProtocol, results: list[Any], line: bytes, size: int) -> int:
    """Repeat `line` in chunks of `size` bytes until the request ends; return the number of bytes delivered."""
    delivered, chunk = 0, line * (size // len(line) + 1)
    while not results:
        assert delivered < 4 * MAX_HEAD, "the header section has no limit"
        protocol.dataReceived(chunk)
        delivered += len(chunk)
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
def test_an_endless_header_section_ends_the_request_and_the_connection(start: bytes, line: bytes, size: int) -> None:
    protocol, transport, results = start_request()
    protocol.dataReceived(start + (b"a: b\r\n" if start else b""))
    delivered = send_repeatedly(protocol, results, line, size)
    assert delivered <= MAX_HEAD + max(size, PIECE) + 2 * len(line)
    (failure,) = results
    assert isinstance(failure, Failure)
    assert isinstance(failure.value, ResponseFailed)
    assert failure.value.reasons[0].check(BadResponse)
    assert transport.disconnected


def test_1xx_responses_are_not_logged() -> None:
    """A head may contain 2,000 of them: hostile remotes could fill the disk with lines of the log."""
    with captured_lines() as lines:
        protocol, _, results = start_request()
        protocol.dataReceived(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 10)
        protocol.dataReceived(STATUS + b"Content-Length: 0\r\n\r\n")
    assert [response.code for response in results] == [200]
    assert lines == []


def test_the_limit_excludes_the_body() -> None:
    protocol, _, results = start_request()
    body = b"x" * (2 * MAX_HEAD)
    protocol.dataReceived(STATUS + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    (response,) = results
    assert response.length == len(body)
    assert protocol.state == "QUIESCENT"


def test_the_limit_applies_to_each_request_of_a_connection() -> None:
    protocol, _, _ = start_request()
    for _ in range(3):
        protocol.dataReceived(STATUS + b"a: b\r\n" * (MAX_HEAD // 8) + b"Content-Length: 0\r\n\r\n")
        results: list[Any] = []
        request = Request(b"GET", b"/", Headers({b"host": [b"h"]}), None, persistent=True)
        protocol.request(request).addBoth(results.append)
    assert results == []


def test_an_invalid_response_closes_the_connection_at_once() -> None:
    protocol, transport, _ = start_request()
    protocol.dataReceived(b"no HTTP at all\r\n")
    assert transport.disconnected
