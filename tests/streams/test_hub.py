"""The hub of event streams: limits, heartbeats and key checks."""

from __future__ import annotations

from typing import Any

import pytest

from directory_server.domain.errors import Unavailable
from directory_server.streams._hub import CHECK_INTERVAL, CHECK_OVERLAP

from ..web.conftest import Server, parse_response
from ._stream import ENDPOINT, listen


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


def test_the_total_number_of_streams_is_limited(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.hub, "_total", 1)
    stream = listen(server)
    _, other = server.new_key()
    rejected = parse_response(listen(server, key=other).received())
    assert rejected.status == 405
    assert "This server has reached its limit of open streams." in rejected.json["error"]["message"]
    stream.close()
    assert b"200 OK" in listen(server, key=other).received()


def test_rejected_requests_are_not_counted_as_streams(server: Server) -> None:
    server.request("HEAD", ENDPOINT)
    server.get(ENDPOINT, key="mcpd_wrong")
    server.get(ENDPOINT, headers={"Mcp-Session-Id": "unknown"})
    server.get(ENDPOINT, headers={"MCP-Protocol-Version": "2026-07-28"})
    assert dict(server.hub._open_by_key) == {}


def test_keys_of_many_streams_are_checked_in_batches_and_not_too_often(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[int] = []
    windows: list[float] = []
    live, ended = server.keys.live, server.keys.ended

    async def count(self: object, key_ids: Any) -> Any:
        batches.append(len(key_ids))
        return await live(key_ids)

    async def record(self: object, within: float) -> Any:
        windows.append(within)
        return await ended(within)

    monkeypatch.setattr(type(server.keys), "live", count)
    monkeypatch.setattr(type(server.keys), "ended", record)
    server.hub._open_by_key.update({f"key-{number}": 1 for number in range(600)})
    for _ in range(10):
        server.hub._check(full=True)
        server.clock.advance(0.1)
    server.clock.pump([0.1] * 10)
    assert batches == [250, 250, 100] * 3
    batches.clear()
    windows.clear()
    # A wake of the bus reads the keys that have ended since, not all keys.
    for _ in range(10):
        server.hub._check()
        server.clock.advance(0.1)
    server.clock.pump([0.1] * 10)
    assert batches == []
    assert len(windows) == 3
    assert all(CHECK_OVERLAP < within < CHECK_OVERLAP + 2 for within in windows)
    server.hub._open_by_key.clear()


@pytest.mark.parametrize("full", [False, True])
def test_check_that_fails_without_storage_is_repeated_until_it_succeeds(
    server: Server, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    log: list[Any] = []
    monkeypatch.setattr(type(server.hub)._log, "failure", lambda *args, **fields: log.append(args))
    name = "live" if full else "ended"
    answer = getattr(server.keys, name)
    failures = [Unavailable("The database cannot be used now.")] * 3

    async def fail(self: object, argument: Any) -> Any:
        if failures:
            raise failures.pop()
        return (await answer(argument)) | (set() if full else {"key"})

    monkeypatch.setattr(type(server.keys), name, fail)
    server.hub._open_by_key["key"] = 1
    ended: list[set[str]] = []
    monkeypatch.setattr(server.hub, "_end_streams", lambda keys: ended.append(set(keys)))
    server.hub._check(full=full)
    server.clock.pump([CHECK_INTERVAL] * 2)
    assert {"key"} not in ended
    server.clock.pump([CHECK_INTERVAL] * 4)
    assert ended.count({"key"}) == 1
    assert not log
    assert not server.hub._checking
    server.hub._open_by_key.clear()
