"""Small documents over real sockets: the body, and each failure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import pytest_twisted  # type: ignore[import-untyped]
from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.task import Clock
from twisted.web.client import Agent

from directory_server.http_client import BadResponse, DocumentClient, document_client
from tests.contract import awaited

HEAD = b"HTTP/1.1 200 OK\r\n"


class _Peer(Protocol):
    def dataReceived(self, data: bytes) -> None:
        assert isinstance(self.factory, _Factory)
        self.factory.requests.append(data)
        assert self.transport is not None
        if self.factory.answer:
            self.transport.write(self.factory.answer)
            self.transport.loseConnection()


@define(eq=False)
class _Factory(Factory):
    noisy = False
    protocol = _Peer
    answer: bytes = b""
    requests: list[bytes] = field(factory=list)


@pytest.fixture
def reactor() -> Any:
    from twisted.internet import reactor

    return reactor


@pytest.fixture
def peer() -> _Factory:
    return _Factory()


@pytest.fixture
def url(peer: _Factory, reactor: Any) -> Iterator[str]:
    port = reactor.listenTCP(0, peer, interface="127.0.0.1")
    yield f"http://127.0.0.1:{port.getHost().port}/x"
    pytest_twisted.blockon(port.stopListening())


@pytest.fixture
def client(reactor: Any) -> DocumentClient:
    return document_client(reactor, "test")


@awaited
async def test_the_body_is_returned(client: DocumentClient, peer: _Factory, url: str) -> None:
    peer.answer = HEAD + b"Content-Length: 2\r\n\r\n{}"
    assert await client.get(url, max_bytes=2, deadline=5) == b"{}"
    assert b"(test)\r\n" in peer.requests[0]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n", "It answered 302."),
        (HEAD + b"Content-Length: 3\r\n\r\n{} ", "It sent more than 2 bytes."),
        (HEAD + b"Content-Length: 2\r\n\r\n{", "Its response broke off"),
        (HEAD + b"A: b\r\n" * 20_000, "bytes of headers"),
        (b"nonsense\r\n\r\n", "Its response broke off"),
    ],
)
@awaited
async def test_other_responses_are_errors(
    client: DocumentClient, peer: _Factory, url: str, answer: bytes, reason: str
) -> None:
    peer.answer = answer
    with pytest.raises(BadResponse, match=reason):
        await client.get(url, max_bytes=2, deadline=5)


@awaited
async def test_a_slow_peer_is_left_after_the_deadline(reactor: Any, url: str) -> None:
    clock = Clock()
    getting = Deferred.fromCoroutine(DocumentClient(Agent(reactor), clock, "test").get(url, max_bytes=2, deadline=5))
    clock.advance(5)
    with pytest.raises(BadResponse, match="within 5 seconds"):
        await getting


@awaited
async def test_a_closed_port_is_an_error(client: DocumentClient) -> None:
    with pytest.raises(BadResponse, match="It cannot be reached"):
        await client.get("http://127.0.0.1:1/x", max_bytes=2, deadline=5)
