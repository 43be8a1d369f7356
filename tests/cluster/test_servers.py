"""Two servers on one database behave as one: quota, entries, keys, sessions and announcements."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest

from directory_server.postgres import place

from ..process.conftest import MCP, SEARCH, Server, entry_line, until
from ..process.mcp_publisher import McpPublisher, PublisherFailed
from .conftest import INITIALIZE, LIST_TOOLS, Cluster

pytestmark = pytest.mark.process

Pair = tuple[Cluster, Server, Server]


def test_a_published_entry_is_found_and_announced_by_both(pair: Pair) -> None:
    cluster, *servers = pair
    key = cluster.new_key("--limit", "unlimited")
    streams = [server.open("/api/open/v1/changes", key, Accept="text/event-stream") for server in servers]
    assert [stream.status for stream in streams] == [200, 200]
    cluster.command("import", "-", stdin=entry_line("com.example/weather", "Forecasts of the weather."))
    for server in servers:
        until(lambda: server.search_names("weather", key) == ["com.example/weather"], "the entry")  # noqa: B023
    for stream in streams:
        event = b""
        while b"com.example/weather" not in event:
            event = stream.readline()
            assert event, "the stream ended"
        stream.close()


def test_a_revoked_key_is_rejected_by_both(pair: Pair) -> None:
    cluster, *servers = pair
    key = cluster.new_key("--limit", "unlimited")
    # Both have the key in their caches.
    assert [each.search("github", key).status for each in servers] == [200, 200]
    key_id = cluster.command("key", "list").splitlines()[-1].split()[0]
    cluster.command("key", "revoke", key_id)
    for server in servers:
        response = until(lambda: (got := server.search("github", key)).status != 200 and got, "rejection")  # noqa: B023
        assert (response.status, response.json["error"]) == (401, "unauthorized")


def test_a_session_of_one_continues_at_the_other(pair: Pair) -> None:
    cluster, one, two = pair
    key = cluster.new_key("--limit", "unlimited")
    session = one.request(MCP, key, INITIALIZE).headers["Mcp-Session-Id"]
    assert session
    listed = two.request(MCP, key, LIST_TOOLS, **{"Mcp-Session-Id": session})
    assert listed.status == 200
    assert listed.json["result"]["tools"]


def test_one_of_both_performs_the_tasks_of_the_database(pair: Pair) -> None:
    def due() -> list[tuple[str, float]]:
        with psycopg.connect(pair[0].engine.conninfo) as connection:
            query = "SELECT name, due - extract(epoch FROM clock_timestamp())::float8 FROM task ORDER BY name"
            return connection.execute(query).fetchall()

    found = until(lambda: tasks if len(tasks := due()) == 3 else None, "all tasks have been claimed")
    assert [name for name, _ in found] == ["analyses", "attempts", "quota"]
    assert all(3_000 < seconds <= 3_600 for name, seconds in found if name != "attempts")


def test_status_names_the_database_and_the_processes(pair: Pair) -> None:
    cluster = pair[0]
    until(lambda: cluster.command("status").count("\nprocess  ") == 2, "both processes are listed")
    assert f"database        {place(cluster.engine.conninfo)}\n" in cluster.command("status")


def test_the_search_of_rest_is_the_same_at_both(pair: Pair) -> None:
    cluster, one, _ = pair
    key = cluster.new_key("--limit", "unlimited")
    lines = [entry_line(f"com.example/tool-{number}", "Reads files.") for number in range(30)]
    cluster.command("import", "-", stdin="".join(lines))

    def hits(server: Server) -> list[object]:
        found: list[object] = server.request(f"{SEARCH}?keywords=files&limit=30", key).json["data"]
        return found

    until(lambda: len(hits(one)) == 30, "the entries are in the index")
    # One has got them by changes, the other loads them.
    with cluster.serve("three", "--set", "publish.enabled=true") as three:
        assert hits(one) == hits(three)


def test_a_published_version_is_immutable_and_found_by_both(pair: Pair, tmp_path: Path) -> None:
    cluster, one, two = pair
    key = cluster.new_key("--limit", "unlimited")
    token = cluster.command("publisher", "create", "--label", "ci", "--namespace", "io.acme/*").strip()
    publishers = []
    for number, server in enumerate((one, two)):
        home = tmp_path / f"home {number}"
        home.mkdir()
        publishers.append(McpPublisher(home))
        publishers[-1].login_github(server.url, token)
    document = {"name": "io.acme/tides", "description": "Forecasts of the tides.", "version": "1.0.0"}
    assert publishers[0].publish(document) == ("io.acme/tides", "1.0.0")
    with pytest.raises(PublisherFailed, match="version_exists"):
        publishers[1].publish(document)
    for names in (["io.acme/tides"], []):
        until(lambda: all(each.search_names("tides", key) == names for each in (one, two)), "the change")  # noqa: B023
        if names:
            assert publishers[1].status("io.acme/tides", "1.0.0", "deleted") == ("active", "deleted")
    (shown,) = json.loads(cluster.command("publisher", "list", "--json"))
    cluster.command("publisher", "revoke", shown["id"])
    for publisher in publishers:
        with pytest.raises(PublisherFailed, match="status 401"):
            publisher.publish({**document, "version": "2.0.0"})
    outcomes = [each["outcome"] for each in json.loads(cluster.command("publisher", "log", "--json"))]
    assert outcomes == ["done", "version_exists", "done"]
