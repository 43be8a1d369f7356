"""The GET stream: what it sends, and every way it ends."""

from __future__ import annotations

from typing import Any

import pytest

from directory_server import embedded

from .conftest import Connection, Server, read

ENDPOINT = "/api/open/mcp"


def listen(server: Server, **more: Any) -> Connection:
    return server.open("GET", ENDPOINT, headers={"Accept": "text/event-stream"}, **more)


def test_the_first_bytes_come_at_once_and_cost_nothing(server: Server) -> None:
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


def test_one_loop_keeps_all_streams_alive(server: Server) -> None:
    streams = [listen(server), listen(server)]
    for stream in streams:
        stream.received()
    server.clock.pump([1] * 14)
    assert [stream.received() for stream in streams] == [b"", b""]
    server.clock.advance(1)
    assert [stream.received() for stream in streams] == [b": \n\n"] * 2


def test_a_key_has_so_many_streams_and_gets_a_405_beyond(server: Server) -> None:
    first, second = listen(server), listen(server)
    refused = read(listen(server).received())
    assert (refused.status, refused.headers["Allow"]) == (405, "POST")
    assert "as many streams open" in refused.json["error"]["message"]
    _, other = server.new_key()
    assert b"200 OK" in listen(server, key=other).received()

    first.lose()
    assert b"200 OK" in listen(server).received()
    second.lose()


def test_a_stream_is_forgotten_when_its_client_leaves(server: Server) -> None:
    stream = listen(server)
    assert len(server.hub) == 1
    stream.lose()
    assert len(server.hub) == 0
    server.clock.advance(15)


def test_a_revoked_key_loses_its_streams_within_a_second(server: Server) -> None:
    stream = listen(server)
    _, other = server.new_key()
    kept = listen(server, key=other)
    for each in (stream, kept):
        each.received()
    revoke_in_another_process(server)
    server.clock.advance(1)
    assert stream.received() == b"retry: 3000\n\n"
    assert stream.transport.disconnecting
    assert kept.received() == b""
    assert len(server.hub) == 1


def revoke_in_another_process(server: Server) -> None:
    from directory_server.embedded import Database, SqliteKeyRing

    database = Database(server.folder, "directory")
    embedded.finished(SqliteKeyRing(database, server.clock.seconds).revoke(server.key_id))
    database.close()


def test_an_expired_key_loses_its_streams_at_the_next_heartbeat(server: Server) -> None:
    _, short = server.new_key(expires_at=server.clock.seconds() + 20)
    stream = listen(server, key=short)
    server.clock.pump([1] * 32)
    assert stream.transport.disconnecting
    assert len(server.hub) == 0


def test_a_reader_that_does_not_read_is_cut(server: Server) -> None:
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


def test_head_is_no_subscription(server: Server) -> None:
    answer = server.ask("HEAD", ENDPOINT)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/event-stream")
    assert len(server.hub) == 0


def test_streams_end_with_a_spread_retry_when_the_server_stops(server: Server) -> None:
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
    assert server.ask("GET", ENDPOINT, key=key).status == 401
