"""One connection: answers in order, time that runs out, clients that do not read."""

from __future__ import annotations

from typing import Any

import pytest

from ..web.conftest import Connection, Server, read

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def answers(raw: bytes) -> list[int]:
    """Return the statuses of the answers in `raw`, each of which has a Content-Length."""
    found = []
    while raw:
        head, _, rest = raw.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        found.append(int(lines[0].split()[1]))
        length = next((int(line[16:]) for line in lines if line.lower().startswith(b"content-length: ")), 0)
        raw = rest[length:]
    return found


def open_one(server: Server) -> Connection:
    return Connection(server.site)


def is_over(connection: Connection) -> bool:
    return bool(connection.transport.disconnecting or connection.transport.disconnected)


def pass_(server: Server, seconds: float) -> None:
    server.clock.pump([1.0] * int(seconds))


def test_answers_one_request_after_the_other(server: Server) -> None:
    connection = open_one(server)
    for _ in range(3):
        connection.send(HEALTH)
        assert answers(connection.received()) == [200]
    assert not is_over(connection)


def test_answers_what_comes_at_once_in_order(server: Server) -> None:
    connection = open_one(server)
    connection.send(HEALTH + b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n" + HEALTH * 300)
    assert answers(connection.received()) == [200, 404, *[200] * 300]


def test_a_head_is_sent_with_its_body(server: Server) -> None:
    connection = open_one(server)
    written: list[bytes] = []
    connection.transport.write = written.append
    connection.send(HEALTH)
    assert len(written) == 1


def test_each_answer_has_an_id_of_its_own(server: Server) -> None:
    connection = open_one(server)
    ids = set()
    for request in (HEALTH, HEALTH, b"nonsense\r\n"):
        connection.send(request)
        ids.add(read(connection.received()).headers["X-Request-Id"])
    assert len(ids - {None}) == 3


def test_a_head_has_an_answer_without_a_body(server: Server) -> None:
    connection = open_one(server)
    connection.send(HEALTH.replace(b"GET", b"HEAD") + HEALTH)
    head, _, rest = connection.received().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert rest.startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize("version", [b"HTTP/1.0", b"HTTP/1.1\r\nConnection: close"])
def test_closes_after_the_last_request(server: Server, version: bytes) -> None:
    connection = open_one(server)
    connection.send(b"GET /healthz " + version + b"\r\nHost: localhost\r\n\r\n")
    answer = read(connection.received())
    assert (answer.status, answer.headers["Connection"]) == (200, "close")
    assert is_over(connection)


def test_what_is_no_request_is_told_why_and_given_time_to_read_it(server: Server) -> None:
    connection = open_one(server)
    connection.transport.loseWriteConnection = lambda: None
    connection.send(HEALTH + b"GET / HTTP/9.9\r\n")
    assert answers(raw := connection.received()) == [200, 400]
    assert b'"error":"bad_request"' in raw
    assert raw.count(b"Connection: close") == 1
    connection.send(b"x" * 1_000)
    assert not is_over(connection)
    assert connection.received() == b""
    pass_(server, 2)
    assert is_over(connection)


def test_who_goes_on_sending_regardless_is_cut(server: Server) -> None:
    connection = open_one(server)
    connection.transport.loseWriteConnection = lambda: None
    connection.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000000\r\n\r\n")
    assert read(connection.received()).status == 413
    for _ in range(20):
        connection.send(b"x" * 65_536)
    assert connection.transport.disconnected


@pytest.mark.parametrize(
    ("begun", "seconds", "what"),
    [
        (b"GET /", 10, "head"),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ", 10, "head"),
        (b"POST /api/open/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n", 15, "body"),
        (HEALTH + b"POST /api/open/mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", 15, "body"),
    ],
)
def test_a_request_must_come_in_time_however_it_is_spread(
    server: Server, begun: bytes, seconds: int, what: str
) -> None:
    connection = open_one(server)
    connection.send(begun)
    connection.received()
    for _ in range(seconds - 1):
        pass_(server, 1)
        connection.send(b"1" if what == "head" else b"")
    assert connection.received() == b""
    pass_(server, 1)
    answer = read(connection.received())
    assert (answer.status, what in answer.body.decode()) == (408, True)
    assert is_over(connection)


def test_a_connection_may_rest_between_requests_but_not_for_ever(server: Server) -> None:
    connection = open_one(server)
    for _ in range(3):
        pass_(server, 60)
        connection.send(HEALTH)
    assert answers(connection.received()) == [200] * 3
    pass_(server, 74)
    assert not is_over(connection)
    pass_(server, 1)
    assert is_over(connection)
    assert connection.received() == b""


def test_who_does_not_read_gets_to_send_no_more_and_is_cut(server: Server) -> None:
    connection = open_one(server)
    connection.send(HEALTH)
    connection.transport.producer.pauseProducing()
    assert connection.transport.producerState == "paused"
    pass_(server, 29)
    assert not is_over(connection)
    pass_(server, 1)
    assert connection.transport.disconnected


def test_who_reads_again_goes_on(server: Server) -> None:
    connection = open_one(server)
    connection.transport.producer.pauseProducing()
    pass_(server, 29)
    connection.transport.producer.resumeProducing()
    pass_(server, 29)
    connection.send(HEALTH)
    assert answers(connection.received()) == [200]


def test_gives_leave_to_send_a_body_that_will_be_read(server: Server) -> None:
    connection = open_one(server)
    head = b"POST /api/open/mcp HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n"
    connection.send(head % 2)
    assert connection.received() == b"HTTP/1.1 100 Continue\r\n\r\n"
    connection.send(b"{}")
    assert answers(connection.received()) == [401]
    connection.send(head % 100_000)
    assert answers(connection.received()) == [413]


def test_a_refusal_has_the_form_of_the_door_as_far_as_it_is_known(server: Server) -> None:
    connection = open_one(server)
    connection.send(b"POST /api/open/mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n")
    answer = read(connection.received())
    assert (answer.json["id"], answer.json["error"]["data"]) == (None, {"error": "too_large"})


def test_a_slow_answer_holds_up_those_behind_it(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    from twisted.internet.defer import Deferred

    waiting: Deferred[Any] = Deferred()
    search = server.directory._index.search

    async def slow(query: Any) -> Any:
        await waiting
        return await search(query)

    monkeypatch.setattr(type(server.directory._index), "search", lambda self, query: slow(query))
    connection = server.open("GET", "/api/open/v1/search?keywords=postgres")
    connection.send(HEALTH)
    pass_(server, 60)
    assert connection.received() == b""
    assert not is_over(connection)
    monkeypatch.undo()
    waiting.callback(None)
    assert answers(connection.received()) == [200, 200]


def test_a_client_that_leaves_has_its_request_given_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    from twisted.internet.defer import Deferred

    given_up: list[Deferred[Any]] = []
    waiting: Deferred[Any] = Deferred(given_up.append)

    async def slow(self: Any, query: Any) -> Any:
        return await waiting

    monkeypatch.setattr(type(server.directory._index), "search", slow)
    connection = server.open("GET", "/api/open/v1/search?keywords=postgres")
    connection.lose()
    assert given_up == [waiting]
    assert connection.received() == b""
    assert len(server.site.connections) == 0


def test_paths_that_are_not_utf_8_are_refused_in_json(server: Server) -> None:
    answer = server.get("/api/open/v1/entries/%ff")
    assert (answer.status, answer.json["error"]) == (400, "bad_request")


@pytest.mark.parametrize("path", ["//healthz", "/healthz/", "/api//open/v1/search?keywords=a", "/healthz%00"])
def test_there_is_one_way_to_write_a_path(server: Server, path: str) -> None:
    assert server.get(path).status == 404


def test_a_server_that_stops_answers_what_is_on_its_way(server: Server) -> None:
    kept, new, idle = (open_one(server) for _ in range(3))
    kept.send(HEALTH)
    kept.received()
    stopped = server.site.connections.stopService()
    assert not any(map(is_over, (kept, new, idle)))
    for connection in (kept, new):
        connection.send(HEALTH + HEALTH)
        answer = connection.received()
        assert answers(answer) == [200]
        assert b"\r\nConnection: close\r\n" in answer
    server.clock.advance(0.5)
    assert all(map(is_over, (kept, new, idle)))
    for connection in (kept, new, idle):
        connection.lose()
    assert stopped.called


def test_a_server_that_stops_waits_for_a_request_that_has_begun(server: Server) -> None:
    connection = open_one(server)
    connection.send(HEALTH[:10])
    server.site.connections.stopService()
    server.clock.advance(0.5)
    assert not is_over(connection)
    connection.send(HEALTH[10:])
    assert answers(connection.received()) == [200]
    assert is_over(connection)


def test_ids_of_requests_tell_nothing_of_others(server: Server) -> None:
    connection = open_one(server)
    ids = []
    for _ in range(600):
        connection.send(HEALTH)
        ids.append(read(connection.received()).headers["X-Request-Id"] or "")
    assert len(set(ids)) == 600
    assert {each.partition("-")[0] for each in ids} == {ids[0][:8]}
    random = [each.partition("-")[2] for each in ids]
    assert all(len(each) == 16 and int(each, 16) >= 0 for each in random)
    # Neither a common beginning nor a common end.
    assert len({each[:8] for each in random}) == len({each[-8:] for each in random}) == 600


@pytest.mark.parametrize("host", [b"", b"Host:\r\n"])
def test_http_1_0_without_a_host_is_told_that_it_needs_one(server: Server, host: bytes) -> None:
    connection = open_one(server)
    connection.send(b"GET /healthz HTTP/1.0\r\n" + host + b"\r\n")
    answer = read(connection.received())
    assert (answer.status, answer.json["error"]) == (400, "bad_request")
    assert answer.json["message"] == "The Host header is missing or empty. It must name this server."


def test_the_preface_of_http_2_is_told_what_to_use(server: Server) -> None:
    connection = open_one(server)
    connection.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    answer = read(connection.received())
    assert (answer.status, answer.json["message"]) == (505, "HTTP/2 is not supported. Use HTTP/1.1.")


def test_streams_and_connections_together_have_a_bound(server: Server) -> None:
    from directory_server import http

    server.site.connections._sockets = 6
    for _ in range(2):
        server.open("GET", "/api/open/mcp")
    others = [Connection(server.site, f"192.0.2.{last}") for last in range(4)]
    assert len(server.site.connections) == 4
    peer = others[0].transport.getPeer()
    assert not isinstance(server.site.buildProtocol(peer), http.Connection)
    others[0].lose()
    assert isinstance(server.site.buildProtocol(peer), http.Connection)
