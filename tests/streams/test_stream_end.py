"""Every way in which an event stream ends: by the client, by the hub, and when the server stops."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from twisted.internet.error import ConnectionDone
from twisted.python.failure import Failure

from directory_server.runtime.run_sync import run_sync
from directory_server.sqlite import Database, SqliteTables
from directory_server.tables import StoredAccounts, StoredKeyRing

from ..web.conftest import Connection, Server
from ._stream import listen, the_stream


def test_a_client_that_disconnects_while_its_stream_is_opened_leaves_nothing(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[bool] = []
    open_stream = server.hub.open

    def open_late(request: Any, *args: Any, **options: Any) -> Any:
        # The handler continues a turn later, in which the connection was lost.
        request.connectionLost(Failure(ConnectionDone()))
        stream = open_stream(request, *args, **options)
        opened.append(stream.open)
        return stream

    monkeypatch.setattr(server.hub, "open", open_late)
    listen(server)
    assert opened == [False]
    assert (len(server.hub), server.hub.sockets, dict(server.hub._open_by_key)) == (0, 0, {})


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
    database = Database(server.folder, "directory")
    run_sync(StoredKeyRing(SqliteTables(database), server.clock.seconds).revoke(server.key_id))
    database.close()


def test_streams_of_a_deleted_account_end_within_a_second(server: Server) -> None:
    ann = run_sync(server.accounts.add("ann@example.org"))
    _, secret = run_sync(server.keys.create("laptop", limit=20, expires_at=None, owner=ann.id))
    stream, other = listen(server, key=secret), listen(server)
    for each in (stream, other):
        each.received()
    database = Database(server.folder, "directory")
    run_sync(StoredAccounts(SqliteTables(database), server.clock.seconds).delete(ann.id))
    database.close()
    server.clock.advance(1)
    assert stream.transport.disconnecting
    assert not other.transport.disconnecting
    assert len(server.hub) == 1


def test_streams_of_an_expired_key_end_at_the_next_heartbeat(server: Server) -> None:
    _, short = server.new_key(expires_at=server.clock.seconds() + 20)
    stream = listen(server, key=short)
    server.clock.pump([1] * 32)
    assert stream.transport.disconnecting
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
    assert re.search(rb"\r\n\r\n: \n\nretry: \d+\n\n$", stream.received())
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
