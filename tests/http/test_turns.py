"""Turns of the reactor: pipelines, shares of networks, and the memory of requests that wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from twisted.internet.defer import Deferred

from directory_server.domain.errors import Unavailable
from directory_server.http._connections import LONG, TurnShare
from directory_server.http._parser import PIECE

from ..logs import captured_lines
from ..web.conftest import Connection, Server
from ._connection_steps import HEALTH, advance, connect, is_closed, run_turn, statuses


def test_pipelined_requests_get_responses_in_order(server: Server) -> None:
    connection = connect(server)
    connection.send(HEALTH + b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n" + HEALTH * 300)
    assert statuses(connection.received()) == [200, 404, *[200] * 300]


def test_each_turn_answers_one_request_of_a_connection(server: Server) -> None:
    """A client that sends many requests at once delays other clients no more than one request."""
    many, one = connect(server), connect(server)
    many.send(HEALTH * 300)
    assert statuses(many.transport.value()) == [200]
    one.send(HEALTH)
    assert statuses(one.transport.value()) == [200]
    run_turn(server)
    assert statuses(many.transport.value()) == [200] * 2


def test_requests_that_wait_are_not_parsed(server: Server) -> None:
    """A parsed request takes far more memory than its bytes."""
    connection = connect(server)
    connection.transport.producer.pauseProducing()
    connection.send(HEALTH * 300)
    protocol = connection.transport.protocol
    assert len(protocol._parser.messages) <= PIECE / len(HEALTH) + 1
    assert connection.transport.producerState == "paused"
    connection.transport.producer.resumeProducing()
    assert statuses(connection.received()) == [200] * 300
    assert connection.transport.producerState == "producing"


async def waited(waiting: list[Deferred[str]]) -> str:
    """Return the result of the Deferred that this adds to `waiting`."""
    waiting.append(Deferred())
    return await waiting[-1]


def test_a_long_turn_answers_one_more_request_of_each_network(server: Server) -> None:
    """300 slow requests of one network delay a client of another one by one turn."""
    ends: list[Callable[[], None]] = []
    now = [0.0]
    server.site.connections.turns = TurnShare(lambda: now[0], ends.append)
    many = [Connection(server.site, "192.0.2.1") for _ in range(3)]
    for connection in many:
        connection.send(HEALTH)
        now[0] += LONG
    other = Connection(server.site, "198.51.100.1")
    other.send(HEALTH)
    assert [len(statuses(each.transport.value())) for each in (*many, other)] == [1, 0, 0, 1]
    run_turn(server)
    assert [len(statuses(each.transport.value())) for each in many] == [1, 0, 0]
    for end in ends:
        end()
    run_turn(server)
    assert [len(statuses(each.transport.value())) for each in many] == [1, 1, 1]


def test_networks_behind_a_trusted_proxy_have_shares_of_their_own(server: Server) -> None:
    now = [0.0]
    server.site.connections.turns = TurnShare(lambda: now[0], lambda end: None)
    connections = []
    for client in ("192.0.2.1", "192.0.2.1", "192.0.2.2", "198.51.100.1"):
        # The last one is no trusted proxy.
        address = "10.0.0.1" if client.startswith("192") else "192.0.2.1"
        connections.append(Connection(server.site, address))
        connections[-1].send(HEALTH.replace(b"\r\n\r\n", f"\r\nX-Forwarded-For: {client}\r\n\r\n".encode()))
        now[0] += LONG
    assert [len(statuses(each.transport.value())) for each in connections] == [1, 0, 1, 0]


def test_results_that_arrive_together_are_handled_in_several_turns(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads that read for 300 pages may be done at once, and each page takes milliseconds to render."""
    waiting: list[Deferred[str]] = []
    search = server.directory._index.search
    now = [0.0]

    async def slow(query: Any) -> Any:
        assert await waited(waiting) == "read"
        now[0] += LONG
        return await search(query)

    monkeypatch.setattr(type(server.directory._index), "search", lambda self, query: slow(query))
    ends: list[Callable[[], None]] = []
    server.site.connections.turns = TurnShare(lambda: now[0], ends.append)
    head = b"GET /api/open/v1/search?keywords=%b HTTP/1.1\r\nHost: localhost\r\nAuthorization: %b\r\n\r\n"
    many = [connect(server) for _ in range(3)]
    for number, connection in enumerate(many):
        connection.send(head % (b"abc"[number : number + 1], server.new_key()[1].encode()))
    first, second, third = waiting
    first.callback("read")
    second.callback("read")
    third.errback(Unavailable("The storage cannot be used now."))
    counts = []
    for _ in range(3):
        counts.append(sum(len(statuses(each.transport.value())) for each in many))
        for end in ends:
            end()
        run_turn(server)
    assert counts == [1, 2, 3]
    assert [statuses(each.transport.value()) for each in many] == [[200], [200], [503]]


def test_a_short_turn_answers_all_requests_of_a_network(server: Server) -> None:
    server.site.connections.turns = TurnShare(lambda: 0.0, lambda end: None)
    many = [Connection(server.site, "192.0.2.1") for _ in range(3)]
    for connection in many:
        connection.send(HEALTH)
    assert [len(statuses(each.transport.value())) for each in many] == [1] * 3


PART = b"POST /api/open/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n" + b" " * 50_000


def test_the_bytes_of_incomplete_requests_are_limited(server: Server) -> None:
    """The connection whose request has been incomplete for the longest time is aborted."""
    incoming = server.site.connections.incoming
    incoming._limit = 120_000
    first, second, third = (connect(server) for _ in range(3))
    for connection in (first, second):
        connection.send(PART)
    first.send(b" " * 9_000)
    assert not any(map(is_closed, (first, second)))
    third.send(PART)
    assert list(map(is_closed, (first, second, third))) == [True, False, False]
    with captured_lines() as log:
        advance(server, 1)
    assert ["1 slow client disconnected" in line for line in log] == [True]
    second.send(b" " * 10_000)
    assert statuses(second.received()) == [401]
    assert len(incoming) == 1
    for connection in (first, second, third):
        connection.close()
    assert (len(incoming), incoming.total) == (0, 0)


def test_requests_that_wait_count_as_incomplete_ones(server: Server) -> None:
    incoming = server.site.connections.incoming
    connection = connect(server)
    connection.transport.producer.pauseProducing()
    connection.send(HEALTH * 300)
    assert incoming.total > 10_000
    connection.transport.producer.resumeProducing()
    assert statuses(connection.received()) == [200] * 300
    assert (len(incoming), incoming.total) == (0, 0)


def test_a_stream_is_no_incomplete_request(server: Server) -> None:
    connection = connect(server)
    head = b"GET /api/open/v1/changes HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
    stream = head + b"Authorization: " + server.key.encode() + b"\r\n\r\n"
    connection.send(HEALTH + stream + HEALTH * 300)
    assert b"text/event-stream" in connection.received()
    assert len(server.site.connections.incoming) == 0


def test_a_disconnect_ends_a_pipeline(server: Server) -> None:
    connection = connect(server)
    connection.send(HEALTH * 3)
    connection.close()
    assert statuses(connection.received()) == [200]


def test_a_stopping_server_answers_requests_that_wait(server: Server) -> None:
    connection = connect(server)
    connection.send(HEALTH * 3)
    server.site.connections._close_idle()
    assert statuses(connection.received()) == [200] * 3
