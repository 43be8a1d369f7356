"""The hub of event streams: limits, heartbeats and key checks."""

from __future__ import annotations

from typing import Any

import pytest

from directory_server.domain.errors import Unavailable
from directory_server.streams._hub import CHECK_INTERVAL

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
