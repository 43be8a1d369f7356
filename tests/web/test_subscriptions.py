"""Announcements on MCP streams, and subscriptions of the stateless protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .conftest import META, Connection, Server, entry, parse_response

MCP = "/api/open/mcp"
CHANGED = b'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/resources/list_changed"}\n\n'
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
REQUESTED = {"resourcesListChanged": True}


def connect(server: Server) -> Connection:
    """Open a stream of the stateful protocol and discard its first bytes."""
    connection = server.open("GET", MCP)
    assert connection.received().endswith(b"\r\n\r\n: \n\n")
    return connection


def listen(server: Server, notifications: Any = REQUESTED, identity: Any = "s1", **more: Any) -> Connection:
    params = {"notifications": notifications, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": identity, "method": "subscriptions/listen", "params": params}).encode()
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}
    return server.open("POST", MCP, headers={"Content-Type": "application/json", **headers}, body=body, **more)


def messages(raw: bytes) -> list[Any]:
    return [json.loads(line.removeprefix(b"data: ")) for line in raw.splitlines() if line.startswith(b"data: ")]


def change(server: Server, number: int) -> None:
    server.publish(entry("x/y", f"It has changed {number} times."))
    server.clock.advance(0)


def later(server: Server, seconds: int) -> None:
    server.clock.pump([1] * seconds)


@pytest.fixture
def quiet(server: Server) -> Server:
    """Return a server that may announce the next change at once."""
    later(server, 60)
    return server


def test_the_first_change_is_announced_at_once_and_later_ones_once_a_minute(quiet: Server) -> None:
    stream = connect(quiet)
    counts = []
    for second in range(150):
        if second < 100:
            change(quiet, second)
        quiet.clock.advance(1)
        counts.append(stream.received().count(CHANGED))
    assert [second for second, count in enumerate(counts) if count] == [0, 59, 119]
    assert set(counts) == {0, 1}


def test_an_announcement_is_spread_over_time(quiet: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.streams._channel.BATCH", 1)
    keys = [quiet.new_key()[1] for _ in range(5)]
    streams = [quiet.open("GET", MCP, key=key) for key in keys]
    streams += [listen(quiet, identity=str(number), key=key) for number, key in enumerate(keys)]
    for stream in streams:
        stream.received()
    change(quiet, 1)
    reached = []
    for _ in range(12):
        reached.append(sum(b"list_changed" in stream.transport.value() for stream in streams))
        quiet.clock.advance(1)
    assert reached == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10]


def test_a_subscription_is_acknowledged_before_its_notifications(quiet: Server) -> None:
    stream = listen(quiet)
    head, _, body = stream.received().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK")
    assert b"text/event-stream" in head
    assert b"X-RateLimit-Remaining: 20" in head
    assert messages(body) == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": {"notifications": REQUESTED, "_meta": {SUBSCRIPTION: "s1"}},
        }
    ]
    change(quiet, 1)
    assert messages(stream.received()) == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/resources/list_changed",
            "params": {"_meta": {SUBSCRIPTION: "s1"}},
        }
    ]


@pytest.mark.parametrize("identity", [7, 7.5, "7", "\u2028\n\ndata: x", ""])
def test_each_notification_has_the_id_of_its_subscription(quiet: Server, identity: Any) -> None:
    one, other = listen(quiet, identity=identity), listen(quiet, identity="other")
    change(quiet, 1)
    later(quiet, 10)
    for stream, expected in ((one, identity), (other, "other")):
        received = messages(stream.received())
        assert len(received) == 2
        assert [each["params"]["_meta"][SUBSCRIPTION] for each in received] == [expected] * 2


@pytest.mark.parametrize(
    "notifications",
    [
        {},
        {"resourcesListChanged": False},
        {"resourcesListChanged": None},
        {"toolsListChanged": True, "promptsListChanged": True},
        {"resourceSubscriptions": ["directory://entries/x"]},
    ],
)
def test_only_requested_and_supported_notifications_are_accepted(quiet: Server, notifications: Any) -> None:
    stream = listen(quiet, notifications)
    (acknowledgement,) = messages(stream.received())
    assert acknowledgement["params"]["notifications"] == {}
    change(quiet, 1)
    later(quiet, 10)
    assert b"data" not in stream.received()


@pytest.mark.parametrize(
    "notifications", [None, [], "resourcesListChanged", {"resourcesListChanged": 1}, {"toolsListChanged": "yes"}]
)
def test_invalid_notifications_are_rejected(server: Server, notifications: Any) -> None:
    response = parse_response(listen(server, notifications).received())
    assert (response.status, response.json["error"]["code"], response.json["id"]) == (400, -32602, "s1")
    assert len(server.hub) == 0


def test_a_subscription_id_has_at_most_256_characters(server: Server) -> None:
    assert parse_response(listen(server, identity="x" * 257).received()).json["error"]["code"] == -32600
    assert b"200 OK" in listen(server, identity="x" * 256).received()


def test_a_stopping_server_sends_the_result(server: Server) -> None:
    stream = listen(server)
    stream.received()
    server.hub.stopService()
    server.clock.advance(0)
    retry, _, end = stream.received().partition(b"\n\n")
    assert retry.startswith(b"retry: ")
    (result,) = messages(end)
    assert (result["id"], result["result"]["resultType"]) == ("s1", "complete")
    assert result["result"]["_meta"][SUBSCRIPTION] == "s1"
    assert result["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "directory-server"
    assert stream.transport.disconnecting
    server.hub.startService()


def test_a_subscription_has_no_maximum_age(server: Server) -> None:
    # The client would take the result as final and not subscribe again.
    subscribed, stream = listen(server), connect(server)
    server.clock.pump([1] * 1_000)
    assert [each.transport.disconnecting for each in (subscribed, stream)] == [False, True]
    assert len(server.hub) == 1


def test_too_many_streams_are_an_error_with_status_200(server: Server) -> None:
    connect(server)
    assert b"200 OK" in listen(server).received()
    response = parse_response(listen(server).received())
    assert (response.status, response.json["id"], response.json["error"]["code"]) == (200, "s1", -32600)
    assert response.json["error"]["data"] == {"error": "too_many_streams"}
