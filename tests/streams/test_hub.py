"""The event stream of the MCP endpoint: limits, heartbeats, and every way it ends."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import pytest
from twisted.internet.defer import Deferred

from directory_server.run_sync import run_sync
from directory_server.streams._hub import CHECK_OVERLAP

from ..web.conftest import Connection, Server, parse_response

ENDPOINT = "/api/open/mcp"


def listen(server: Server, **more: Any) -> Connection:
    return server.open("GET", ENDPOINT, headers={"Accept": "text/event-stream"}, **more)


def test_the_first_bytes_are_sent_at_once_and_cost_nothing(server: Server) -> None:
    head, _, body = listen(server).received().partition(b"\r\n\r\n")
    head = head.lower()
    assert head.startswith(b"http/1.1 200 ok")
    assert b"content-type: text/event-stream" in head
    assert b"cache-control: no-cache, no-transform" in head
    assert b"x-accel-buffering: no" in head
    assert b"x-ratelimit-remaining: 20" in head
    assert b"connection: close" in head
    assert b"transfer-encoding" not in head
    assert body == b"retry: 3000\n\n"


def test_heartbeats_are_sent_to_all_streams(server: Server) -> None:
    streams = [listen(server), listen(server)]
    for stream in streams:
        stream.received()
    server.clock.pump([1] * 14)
    assert [stream.received() for stream in streams] == [b"", b""]
    server.clock.advance(1)
    assert [stream.received() for stream in streams] == [b": \n\n"] * 2


def test_a_key_above_its_stream_limit_gets_a_405(server: Server) -> None:
    first, second = listen(server), listen(server)
    rejected = parse_response(listen(server).received())
    assert (rejected.status, rejected.headers["Allow"]) == (405, "POST")
    assert "limit of open streams" in rejected.json["error"]["message"]
    _, other = server.new_key()
    assert b"200 OK" in listen(server, key=other).received()

    first.close()
    assert b"200 OK" in listen(server).received()
    second.close()


def test_a_stream_is_removed_when_its_client_disconnects(server: Server) -> None:
    stream = listen(server)
    assert len(server.hub) == 1
    stream.close()
    assert len(server.hub) == 0
    server.clock.advance(15)


def test_streams_of_a_revoked_key_end_within_a_second(server: Server) -> None:
    stream = listen(server)
    _, other = server.new_key()
    other_stream = listen(server, key=other)
    for each in (stream, other_stream):
        each.received()
    revoke_in_another_process(server)
    server.clock.advance(1)
    assert stream.received() == b"retry: 3000\n\n"
    assert stream.transport.disconnecting
    assert other_stream.received() == b""
    assert len(server.hub) == 1


def revoke_in_another_process(server: Server) -> None:
    from directory_server.sqlite import Database, SqliteKeyRing

    database = Database(server.folder, "directory")
    run_sync(SqliteKeyRing(database, server.clock.seconds).revoke(server.key_id))
    database.close()


def test_streams_of_an_expired_key_end_at_the_next_heartbeat(server: Server) -> None:
    _, short = server.new_key(expires_at=server.clock.seconds() + 20)
    stream = listen(server, key=short)
    server.clock.pump([1] * 32)
    assert stream.transport.disconnecting
    assert len(server.hub) == 0


def test_a_reader_that_does_not_read_is_aborted(server: Server) -> None:
    stream = listen(server)
    stream.transport.producer.pauseProducing()
    server.clock.pump([1] * 20)
    stream.transport.producer.resumeProducing()
    server.clock.pump([1] * 20)
    assert not stream.transport.disconnecting
    stream.transport.producer.pauseProducing()
    server.clock.pump([1] * 46)
    assert stream.transport.disconnected
    assert (len(server.hub), server.hub.cuts) == (0, 1)


def test_head_opens_no_stream(server: Server) -> None:
    answer = server.request("HEAD", ENDPOINT)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/event-stream")
    assert len(server.hub) == 0


def test_streams_end_with_a_random_retry_when_the_server_stops(server: Server) -> None:
    streams = [listen(server), listen(server)]
    for stream in streams:
        stream.received()
    server.hub.stopService()
    server.clock.advance(0)
    ends = [stream.received() for stream in streams]
    assert all(end.endswith(b"\n\n") for end in ends)
    assert all(stream.transport.disconnecting for stream in streams)
    delays = [int(end.split(b"retry: ")[1].split()[0]) for end in ends]
    assert len(set(delays)) == 2
    assert all(3_000 <= delay < 13_000 for delay in delays)
    server.hub.startService()


@pytest.mark.parametrize("key", [None, "mcpd_wrong"])
def test_a_stream_needs_a_key(server: Server, key: str | None) -> None:
    assert server.request("GET", ENDPOINT, key=key).status == 401


def the_stream(connection: Connection) -> Any:
    """Return the stream that is the protocol of a connection."""
    from directory_server.streams import Stream

    found = connection.transport.protocol
    assert isinstance(found, Stream)
    assert connection.transport.producer is found
    return found


def test_a_stream_keeps_no_reference_to_its_request(server: Server) -> None:
    # A leaked request or connection would cost memory for as long as the stream is open.
    from directory_server.http import Connection as HttpConnection
    from directory_server.http._request import Request

    gc.collect()
    before = server.clock.getDelayedCalls()
    streams = [listen(server), listen(server)]
    gc.collect()
    kinds, borders = (HttpConnection, Request, Deferred), {server.hub, the_stream(streams[0]).channel}
    leaked = [one for stream in streams for one in reachable(the_stream(stream), borders) if isinstance(one, kinds)]
    assert leaked == []
    # Objects of other tests have another site.
    assert not [one for one in gc.get_objects() if isinstance(one, kinds[:2]) and one.site is server.site]
    assert server.clock.getDelayedCalls() == before
    assert len(server.site.connections) == 0
    assert not hasattr(the_stream(streams[0]), "__dict__")


def reachable(start: object, borders: set[object]) -> list[object]:
    """Return the objects that are reachable from `start`, but not through `borders`, classes, modules or functions."""
    seen, found, open_ = {id(one) for one in borders}, [], [start]
    while open_:
        one = open_.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | FunctionType):
            continue
        seen.add(id(one))
        found.append(one)
        open_.extend(gc.get_referents(one))
    return found


@pytest.mark.parametrize("version", ["1.0", "1.1"])
@pytest.mark.parametrize("connection", ["close", "keep-alive"])
def test_http_1_0_and_1_1_receive_the_same_bytes(server: Server, version: str, connection: str) -> None:
    stream = Connection(server.site)
    stream.send(
        f"GET {ENDPOINT} HTTP/{version}\r\nHost: localhost\r\nConnection: {connection}\r\n"
        f"Authorization: Bearer {server.key}\r\n\r\n".encode()
    )
    head, _, body = stream.received().partition(b"\r\n\r\n")
    assert b"\r\nconnection: close" in head.lower()
    assert b"transfer-encoding" not in head.lower()
    assert b"content-length" not in head.lower()
    the_stream(stream).send(b"data: x\n\n")
    assert (body, stream.received()) == (b"retry: 3000\n\n", b"data: x\n\n")


@pytest.mark.parametrize(
    "more",
    [
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100,
        b"POST /api/open/mcp HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n",
        b"\x00nonsense",
        b"x" * 200_000,
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_data_after_the_request_is_ignored(server: Server, more: bytes, at_once: bool) -> None:
    stream = Connection(server.site)
    request = f"GET {ENDPOINT} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.key}\r\n\r\n".encode()
    for part in [request + more] if at_once else [request, more]:
        stream.send(part)
    assert stream.received().partition(b"\r\n\r\n")[2] == b"retry: 3000\n\n"
    # Reading goes on, so that a disconnect is noticed.
    assert stream.transport.producerState == "producing"
    stream.send(more)
    server.clock.advance(1)
    the_stream(stream).send(b"data: x\n\n")
    assert stream.received() == b"data: x\n\n"
    assert not stream.transport.disconnecting
    stream.close()
    assert len(server.hub) == 0


def test_a_stream_starts_with_one_write(server: Server) -> None:
    connection = Connection(server.site)
    written: list[bytes] = []
    connection.transport.write = written.append
    connection.send(f"GET {ENDPOINT} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {server.key}\r\n\r\n".encode())
    (first,) = written
    assert first.endswith(b"\r\n\r\nretry: 3000\n\n")


def test_the_total_number_of_streams_is_limited(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.hub, "_total", 1)
    stream = listen(server)
    _, other = server.new_key()
    rejected = parse_response(listen(server, key=other).received())
    assert rejected.status == 405
    assert "This server has reached its limit of open streams." in rejected.json["error"]["message"]
    stream.close()
    assert b"200 OK" in listen(server, key=other).received()


def revoke(server: Server, _: Connection) -> None:
    revoke_in_another_process(server)
    server.clock.pump([0.25] * 4)


def stall(server: Server, connection: Connection) -> None:
    the_stream(connection).pauseProducing()
    server.clock.pump([1] * 46)


def overflow(server: Server, connection: Connection) -> None:
    stream = the_stream(connection)
    stream.pauseProducing()
    for _ in range(60):
        stream.send(b"x" * 1_000)


ENDINGS: dict[str, Callable[[Server, Connection], None]] = {
    "the client disconnects": lambda server, connection: connection.close(),
    "it is ended": lambda server, connection: the_stream(connection).end(),
    "it is aborted": lambda server, connection: the_stream(connection).abort(),
    "it is old": lambda server, connection: server.clock.pump([1] * 735),
    "its key is revoked": revoke,
    "its reader stalls": stall,
    "its backlog overflows": overflow,
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("leaves_after", [True, False])
def test_every_end_removes_the_stream_from_its_hub_and_channel(server: Server, ending: str, leaves_after: bool) -> None:
    connection = listen(server)
    stream, channel = the_stream(connection), server.hub.channel()
    stream.join(channel)
    assert (len(server.hub), len(channel), server.hub._open_by_key[server.key_id]) == (1, 1, 1)
    ENDINGS[ending](server, connection)
    if leaves_after:
        connection.close()
    assert (len(server.hub), len(channel), dict(server.hub._open_by_key)) == (0, 0, {})
    assert not stream.open
    # Later calls do nothing.
    connection.received()
    stream.send(b"data: x\n\n")
    stream.end()
    stream.join(channel)
    channel.send(b"data: y\n\n")
    server.clock.advance(0)
    assert (connection.received(), len(channel)) == (b"", 0)


def test_rejected_requests_are_not_counted_as_streams(server: Server) -> None:
    server.request("HEAD", ENDPOINT)
    server.get(ENDPOINT, key="mcpd_wrong")
    server.get(ENDPOINT, headers={"Mcp-Session-Id": "unknown"})
    server.get(ENDPOINT, headers={"MCP-Protocol-Version": "2026-07-28"})
    assert dict(server.hub._open_by_key) == {}


def test_old_streams_end_at_different_times_with_a_short_retry(server: Server) -> None:
    keys = [server.new_key()[1] for _ in range(20)]
    streams = [listen(server, key=key) for key in keys for _ in range(2)]
    for stream in streams:
        stream.received()
    ages: list[int] = []
    for second in range(1, 740):
        server.clock.advance(1)
        for stream in [stream for stream in streams if stream.transport.disconnecting]:
            (retry,) = re.findall(rb"retry: (\d+)\n\n$", stream.received())
            assert 100 <= int(retry) < 1_000
            ages.append(second)
            streams.remove(stream)
    assert streams == []
    assert 480 <= min(ages) < 540 < 660 < max(ages) <= 735
    assert len(set(ages)) > 10


def test_an_ending_stream_sends_its_backlog_the_retry_and_the_last_event(server: Server) -> None:
    connection = listen(server)
    connection.received()
    stream = the_stream(connection)
    stream._last = b"data: the end\n\n"
    stream.pauseProducing()
    stream.send(b"data: 1\n\n")
    stream.send(b"data: 2\n\n")
    assert connection.received() == b""
    stream.end(500)
    assert connection.received() == b"data: 1\n\ndata: 2\n\nretry: 500\n\ndata: the end\n\n"
    assert connection.transport.disconnecting
    # A client that does not read this is disconnected.
    server.clock.pump([1] * 46)
    assert connection.transport.disconnected


def test_a_stream_opened_while_the_server_stops_ends_with_a_retry(server: Server) -> None:
    server.hub.stopService()
    stream = listen(server)
    assert re.search(rb"retry: 3000\n\nretry: \d+\n\n$", stream.received())
    assert stream.transport.disconnecting
    assert len(server.hub) == 0
    server.hub.startService()


def test_the_server_stops_when_all_streams_are_closed(server: Server) -> None:
    streams = [listen(server), listen(server)]
    stopped = server.hub.stopService()
    server.clock.advance(0)
    assert not stopped.called
    for stream in streams:
        assert not stopped.called
        stream.close()
    assert stopped.called
    server.hub.startService()


def test_the_server_waits_at_most_grace_seconds_for_streams(server: Server) -> None:
    stream = listen(server)
    the_stream(stream).pauseProducing()
    stopped = server.hub.stopService()
    server.clock.advance(9)
    assert not stopped.called
    assert not stream.transport.disconnected
    server.clock.advance(1)
    assert stopped.called
    assert stream.transport.disconnected
    server.hub.startService()


def test_a_server_without_streams_stops_at_once(server: Server) -> None:
    assert server.hub.stopService().called
    server.hub.startService()


def test_keys_of_many_streams_are_checked_in_batches_and_not_too_often(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[int] = []
    asked: list[float] = []
    live, ended = server.keys.live, server.keys.ended

    async def count(self: object, key_ids: Any) -> Any:
        batches.append(len(key_ids))
        return await live(key_ids)

    async def note(self: object, within: float) -> Any:
        asked.append(within)
        return await ended(within)

    monkeypatch.setattr(type(server.keys), "live", count)
    monkeypatch.setattr(type(server.keys), "ended", note)
    server.hub._open_by_key.update({f"key-{number}": 1 for number in range(600)})
    for _ in range(10):
        server.hub._check(full=True)
        server.clock.advance(0.1)
    server.clock.pump([0.1] * 10)
    assert batches == [250, 250, 100] * 3
    batches.clear()
    asked.clear()
    # A wake of the bus asks for the keys that have ended since, not for all keys.
    for _ in range(10):
        server.hub._check()
        server.clock.advance(0.1)
    server.clock.pump([0.1] * 10)
    assert batches == []
    assert len(asked) == 3
    assert all(CHECK_OVERLAP < within < CHECK_OVERLAP + 2 for within in asked)
    server.hub._open_by_key.clear()
