"""One connection: responses in order, time limits, slow clients, and the stop of the server."""

from __future__ import annotations

import pytest

from directory_server import http

from ..logs import captured_lines
from ..web.conftest import Connection, Server, parse_response
from ._connection_steps import HEALTH, advance, connect, is_closed, statuses


def test_connection_stays_open_between_requests(server: Server) -> None:
    connection = connect(server)
    for _ in range(3):
        connection.send(HEALTH)
        assert statuses(connection.received()) == [200]
    assert not is_closed(connection)


def test_head_and_body_are_sent_in_one_write(server: Server) -> None:
    connection = connect(server)
    written: list[bytes] = []
    connection.transport.write = written.append
    connection.send(HEALTH)
    assert len(written) == 1


def test_an_invalid_request_gets_an_error_and_time_to_read_it(server: Server) -> None:
    connection = connect(server)
    connection.transport.loseWriteConnection = lambda: None
    connection.send(HEALTH + b"GET / HTTP/9.9\r\n")
    assert statuses(raw := connection.received()) == [200, 400]
    assert b'"error":"bad_request"' in raw
    assert raw.count(b"Connection: close") == 1
    connection.send(b"x" * 1_000)
    assert not is_closed(connection)
    assert connection.received() == b""
    advance(server, 2)
    assert is_closed(connection)


def test_a_client_that_keeps_sending_after_an_error_is_disconnected(server: Server) -> None:
    connection = connect(server)
    connection.transport.loseWriteConnection = lambda: None
    connection.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000000\r\n\r\n")
    assert parse_response(connection.received()).status == 413
    for _ in range(20):
        connection.send(b"x" * 65_536)
    assert connection.transport.disconnected


@pytest.mark.parametrize(
    ("data", "seconds", "part"),
    [
        (b"GET /", 10, "head"),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ", 10, "head"),
        (b"POST /api/open/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n", 15, "body"),
        (HEALTH + b"POST /api/open/mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", 15, "body"),
    ],
)
def test_a_slow_request_gets_a_408(server: Server, data: bytes, seconds: int, part: str) -> None:
    connection = connect(server)
    connection.send(data)
    connection.received()
    for _ in range(seconds - 1):
        advance(server, 1)
        connection.send(b"1" if part == "head" else b"")
    assert connection.received() == b""
    advance(server, 1)
    response = parse_response(connection.received())
    assert (response.status, part in response.body.decode()) == (408, True)
    assert is_closed(connection)


def test_an_idle_connection_is_closed_after_75_seconds(server: Server) -> None:
    connection = connect(server)
    for _ in range(3):
        advance(server, 60)
        connection.send(HEALTH)
    assert statuses(connection.received()) == [200] * 3
    advance(server, 74)
    assert not is_closed(connection)
    advance(server, 1)
    assert is_closed(connection)
    assert connection.received() == b""


def test_a_client_that_does_not_read_is_paused_and_disconnected(server: Server) -> None:
    connection = connect(server)
    connection.send(HEALTH)
    connection.transport.producer.pauseProducing()
    assert connection.transport.producerState == "paused"
    advance(server, 29)
    assert not is_closed(connection)
    advance(server, 1)
    assert connection.transport.disconnected


def test_a_client_that_reads_again_is_served(server: Server) -> None:
    connection = connect(server)
    connection.transport.producer.pauseProducing()
    advance(server, 29)
    connection.transport.producer.resumeProducing()
    advance(server, 29)
    connection.send(HEALTH)
    assert statuses(connection.received()) == [200]


def test_100_continue_is_sent_only_for_an_acceptable_body(server: Server) -> None:
    connection = connect(server)
    head = b"POST /api/open/mcp HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n"
    connection.send(head % 2)
    assert connection.received() == b"HTTP/1.1 100 Continue\r\n\r\n"
    connection.send(b"{}")
    assert statuses(connection.received()) == [401]
    connection.send(head % 100_000)
    assert statuses(connection.received()) == [413]


def test_stopping_server_serves_late_requests(server: Server) -> None:
    active, new, idle = (connect(server) for _ in range(3))
    active.send(HEALTH)
    active.received()
    stopped = server.site.connections.stopService()
    assert not any(map(is_closed, (active, new, idle)))
    for connection in (active, new):
        connection.send(HEALTH + HEALTH)
        received = connection.received()
        assert statuses(received) == [200]
        assert b"\r\nConnection: close\r\n" in received
    server.clock.advance(0.5)
    assert all(map(is_closed, (active, new, idle)))
    for connection in (active, new, idle):
        connection.close()
    assert stopped.called


def test_a_connection_to_a_stopping_server_gets_one_response(server: Server) -> None:
    open_before = connect(server)
    server.site.connections.stopService()
    connection = connect(server)
    connection.send(HEALTH + HEALTH)
    assert statuses(connection.received()) == [200]
    assert is_closed(connection)
    assert not is_closed(open_before)


def test_a_stopping_server_waits_for_an_incomplete_request(server: Server) -> None:
    connection = connect(server)
    connection.send(HEALTH[:10])
    server.site.connections.stopService()
    server.clock.advance(0.5)
    assert not is_closed(connection)
    connection.send(HEALTH[10:])
    assert statuses(connection.received()) == [200]
    assert is_closed(connection)


def test_request_ids_are_random(server: Server) -> None:
    connection = connect(server)
    ids = []
    for _ in range(600):
        connection.send(HEALTH)
        ids.append(parse_response(connection.received()).headers["X-Request-Id"] or "")
    assert len(set(ids)) == 600
    assert {each.partition("-")[0] for each in ids} == {ids[0][:8]}
    random = [each.partition("-")[2] for each in ids]
    assert all(len(each) == 16 and int(each, 16) >= 0 for each in random)
    # Neither a common prefix nor a common suffix; a few halves may collide by chance.
    assert min(len({each[:8] for each in random}), len({each[-8:] for each in random})) > 590


@pytest.mark.parametrize("host", [b"", b"Host:\r\n"])
def test_http_1_0_without_a_host_is_rejected_with_a_reason(server: Server, host: bytes) -> None:
    connection = connect(server)
    connection.send(b"GET /api/open/v1/search HTTP/1.0\r\n" + host + b"\r\n")
    response = parse_response(connection.received())
    assert (response.status, response.json["error"]) == (400, "bad_request")
    assert response.json["message"] == "The Host header is missing or empty. It must name this server."


def test_the_http_2_preface_gets_a_505(server: Server) -> None:
    connection = connect(server)
    connection.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    response = parse_response(connection.received())
    assert (response.status, response.json["message"]) == (505, "HTTP/2 is not supported. Use HTTP/1.1.")


def test_streams_and_connections_have_a_common_limit(server: Server) -> None:
    server.site.connections._sockets = 6
    for _ in range(2):
        server.open("GET", "/api/open/mcp")
    others = [Connection(server.site, f"192.0.2.{last}") for last in range(4)]
    assert len(server.site.connections) == 4
    peer = others[0].transport.getPeer()
    assert not isinstance(server.site.buildProtocol(peer), http.Connection)
    others[0].close()
    assert isinstance(server.site.buildProtocol(peer), http.Connection)


def test_rejected_connections_are_logged_once_per_check(server: Server) -> None:
    with captured_lines("directory_server.http") as lines:
        connections = [connect(server) for _ in range(3)]
        peer = connections[0].transport.getPeer()
        for _ in range(2):
            server.site.buildProtocol(peer)
        advance(server, 10)
    assert lines == ["2 connections rejected: too many are open"]
