"""The requests of client checks on a connection in memory: streams, repeated headers, and deadlines."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.testing import MemoryReactorClock, StringTransport

from directory_server.features.client_checks.checks import DEADLINE, EndedStream, sender
from directory_server.features.client_checks.findings import Answer
from directory_server.http_client import BadResponse

EVENTS = {"Accept": "text/event-stream"}
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Request-Id: 1\r\n\r\n"


@frozen
class Exchange:
    """A request that was sent, and the peer's end of its connection."""

    reactor: MemoryReactorClock
    result: Deferred[Answer]
    protocol: Any

    @classmethod
    def begin(cls, headers: dict[str, str], hold: float = 0.0) -> Exchange:
        """Send a request."""
        reactor = MemoryReactorClock()
        sent: Any = sender(reactor, hold)("GET", "http://127.0.0.1:80/news", headers, b"")
        result: Deferred[Answer] = Deferred.fromCoroutine(sent)
        (client,) = reactor.tcpClients
        protocol: Any = client[2].buildProtocol(None)
        protocol.makeConnection(StringTransport())
        return cls(reactor, result, protocol)

    def answer(self) -> Answer:
        """Return the response, which is complete. Raises BadResponse."""
        outcome: list[Any] = []
        self.result.addBoth(outcome.append)
        assert outcome
        if not isinstance(outcome[0], Answer):
            outcome[0].raiseException()
        assert isinstance(outcome[0], Answer)
        return outcome[0]


def test_of_a_stream_the_first_piece_is_read() -> None:
    exchange = Exchange.begin(EVENTS)
    exchange.protocol.dataReceived(STREAM)
    assert not exchange.result.called
    exchange.protocol.dataReceived(b": \n\n")
    answer = exchange.answer()
    assert (answer.status, answer.headers["x-request-id"], answer.body) == (200, "1", b": \n\n")
    assert exchange.protocol.transport.disconnecting


def test_a_stream_without_an_event_fails_at_the_deadline() -> None:
    exchange = Exchange.begin(EVENTS)
    exchange.protocol.dataReceived(STREAM)
    exchange.reactor.advance(DEADLINE)
    with pytest.raises(BadResponse, match="did not answer within 10 seconds"):
        exchange.answer()


def test_a_stream_is_held_open_to_find_its_end() -> None:
    held = Exchange.begin(EVENTS, 60.0)
    held.protocol.dataReceived(STREAM + b": \n\n")
    held.reactor.advance(59.0)
    assert not held.result.called
    held.reactor.advance(1.0)
    assert held.answer().status == 200
    cut = Exchange.begin(EVENTS, 60.0)
    cut.protocol.dataReceived(STREAM.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n: \n\r\n"))
    cut.reactor.advance(15.0)
    cut.protocol.dataReceived(b"0\r\n\r\n")
    with pytest.raises(EndedStream, match="ended after 15 seconds"):
        cut.answer()


def test_headers_that_a_proxy_repeats_are_joined() -> None:
    exchange = Exchange.begin({"Accept": "application/json"})
    origin = b"Access-Control-Allow-Origin: *\r\n"
    exchange.protocol.dataReceived(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n" + 2 * origin + b"\r\n{}")
    answer = exchange.answer()
    assert (answer.headers["access-control-allow-origin"], answer.body) == ("*, *", b"{}")
