"""Two servers on one database behave as one: quota, entries, keys, sessions and announcements."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from directory_server.domain.entries import mcp_id_of
from directory_server.postgres import place

from ..process.conftest import MCP, SEARCH, TIMEOUT, Response, Server, entry_line, until
from ..process.mcp_publisher import McpPublisher, PublisherFailed
from ..process.test_metrics import metric
from .conftest import Cluster

pytestmark = pytest.mark.process

OUTAGE = 10.0
"""Seconds in which a server must notice that the database has come or gone."""


def outcomes(responses: list[Response]) -> tuple[int, int]:
    """Return the numbers of admitted and of rejected requests."""
    rejected = [each for each in responses if each.status == 401 and each.json["error"] == "rate_limited"]
    admitted = [each for each in responses if each.status == 200]
    assert len(admitted) + len(rejected) == len(responses), [each.status for each in responses]
    return len(admitted), len(rejected)


def test_the_quota_of_a_key_is_exact_over_both(cluster: Cluster) -> None:
    key = cluster.new_key("--limit", 20)
    with cluster.serve("one") as one, cluster.serve("two") as two, ThreadPoolExecutor(8) as threads:
        responses = list(threads.map(lambda number: (one, two)[number % 2].search("github", key), range(40)))
        assert outcomes(responses) == (20, 20)
        # The next of each is rejected, too.
        assert [each.search("github", key).status for each in (one, two)] == [401, 401]


def test_a_published_entry_is_found_and_announced_by_both(cluster: Cluster) -> None:
    key = cluster.new_key("--limit", "unlimited")
    with cluster.serve("one") as one, cluster.serve("two") as two:
        streams = [server.open("/api/open/v1/changes", key, Accept="text/event-stream") for server in (one, two)]
        assert [stream.status for stream in streams] == [200, 200]
        cluster.command("import", "-", stdin=entry_line("com.example/weather", "Forecasts of the weather."))
        until(lambda: one.entry_count() == two.entry_count() == 1, "the entry is in both indexes")
        for server in (one, two):
            assert server.search_names("weather", key) == ["com.example/weather"]
        for stream in streams:
            event = b""
            while b"com.example/weather" not in event:
                event = stream.readline()
                assert event, "the stream ended"
        for stream in streams:
            stream.close()


def test_a_revoked_key_is_rejected_by_both_within_a_second(cluster: Cluster) -> None:
    key = cluster.new_key("--limit", "unlimited")
    with cluster.serve("one") as one, cluster.serve("two") as two:
        # Both have the key in their caches.
        assert [each.search("github", key).status for each in (one, two)] == [200, 200]
        (key_id,) = [line.split()[0] for line in cluster.command("key", "list").splitlines()[1:]]
        cluster.command("key", "revoke", key_id)
        # The promise: not later than a second after the commit.
        time.sleep(1.0)
        responses = [each.search("github", key) for each in (one, two)]
        assert [(each.status, each.json["error"]) for each in responses] == [(401, "unauthorized")] * 2


@pytest.mark.parametrize("limit", [3, 4])
def test_a_server_has_a_limited_number_of_connections(cluster: Cluster, limit: int) -> None:
    metered = cluster.new_key("--limit", 1_000)
    cluster.command("import", "-", stdin=entry_line("com.example/weather", "Forecasts of the weather."))
    paths = ["/v0.1/servers?limit=", "/v0.1/servers/com.example%2Fweather/versions", f"{SEARCH}?keywords=weather"]
    count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'directory-server'"
    found: list[int] = []
    with (
        cluster.serve("one", "--set", f"database_connections={limit}", "--set", "registry.access=public") as server,
        ThreadPoolExecutor(12) as threads,
        psycopg.connect(cluster.engine.conninfo, autocommit=True) as observer,
        psycopg.connect(cluster.engine.conninfo) as other,
    ):
        # Lists wait for the table, so that as many transactions run as may.
        with other.transaction():
            other.execute("LOCK TABLE record IN ACCESS EXCLUSIVE MODE")
            lists = [threads.submit(server.request, f"{paths[0]}{number + 1}") for number in range(8)]
            until(lambda: observer.execute(count).fetchone() == (limit,), "all connections are open")
            # Charges do not wait for them.
            assert server.request(paths[2], metered).status == 200
        assert {each.result().status for each in lists} == {200}
        for response in [threads.submit(server.request, each, metered) for each in [f"{paths[0]}5", *paths[1:]] * 12]:
            assert response.result().status == 200
            ((connections,),) = observer.execute(count).fetchall()
            found.append(connections)
    assert max(found) == limit


def test_a_session_of_one_continues_at_the_other(cluster: Cluster) -> None:
    key = cluster.new_key("--limit", "unlimited")
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    with cluster.serve("one") as one, cluster.serve("two") as two:
        session = one.request(MCP, key, initialize).headers["Mcp-Session-Id"]
        assert session
        listed = two.request(
            MCP, key, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, **{"Mcp-Session-Id": session}
        )
        assert listed.status == 200
        assert listed.json["result"]["tools"]


def health(server: Server) -> tuple[int, str]:
    response = server.request("/healthz")
    return response.status, response.json["database"]


def test_a_database_that_is_killed_is_away_until_it_is_back(cluster: Cluster) -> None:
    key = cluster.new_key("--limit", 20)
    cluster.command("import", "-", stdin=entry_line("com.example/weather", "Forecasts of the weather."))
    with cluster.serve("one", "--set", "metrics.listen=tcp:0:interface=127.0.0.1") as server:
        assert health(server) == (200, "available")
        assert metric(server.metrics_text(), "directory_database_up") == 1
        until(lambda: metric(server.metrics_text(), "directory_log_behind") == 0, "the log has been applied")
        # The poll of the bus is on this link.
        timed = 'directory_database_seconds_count{link="reads"}'
        until(lambda: metric(server.metrics_text(), timed) > 0, "a statement has been timed")
        assert server.search("weather", key).status == 200
        cluster.engine.kill()
        until(lambda: server.search("weather", key).status == 503, "requests with a key are rejected", OUTAGE)
        rejected = server.search("weather", key)
        assert (rejected.status, rejected.json["error"], rejected.headers["Retry-After"]) == (503, "unavailable", "1")
        until(lambda: health(server) == (200, "away"), "the outage is reported", OUTAGE)
        since = datetime.fromisoformat(server.request("/healthz").json["since"])
        assert abs((datetime.now(UTC) - since).total_seconds()) < OUTAGE + 5
        assert metric(server.metrics_text(), "directory_database_up") == 0
        # The other machines have the same database: the balancer keeps this one.
        assert server.request("/readyz").status == 200
        cluster.engine.start()
        until(lambda: server.search("weather", key).status == 200, "requests with a key are served", OUTAGE)
        until(lambda: health(server) == (200, "available"), "the recovery is reported", 3 * OUTAGE)
        assert server.request("/healthz").json["since"] is None
        assert metric(server.metrics_text(), "directory_database_up") == 1
        log = server.stop()
    assert "Traceback" not in log
    assert "Database unavailable: " in log
    assert "Database available again" in log


def test_pages_without_entries_and_streams_continue_in_an_outage(cluster: Cluster) -> None:
    key = cluster.new_key()
    cluster.command("import", "-", stdin=entry_line("com.example/weather", "Forecasts of the weather."))
    pages = ("/", "/?q=weather", f"/servers/{mcp_id_of('com.example/weather')}")
    others = ("/docs", "/docs/operations", "/docs/api", "/favicon.ico", "/healthz", "/readyz")
    with cluster.serve("one", "--set", "web.search=public") as server:
        assert {server.request(path, Accept="text/html").status for path in (*pages, *others)} == {200}
        with server.open_stream(key) as stream:
            cluster.engine.kill()
            until(lambda: health(server) == (200, "away"), "the outage is reported", OUTAGE)
            for path in pages:
                response = server.request(path, Accept="text/html")
                assert (response.status, response.headers["Retry-After"]) == (503, "1"), path
                assert response.headers["Content-Type"].startswith("text/html")
            assert {server.request(path, Accept="text/html").status for path in others} == {200}
            cluster.engine.start()
            until(lambda: health(server) == (200, "available"), "the recovery is reported", 3 * OUTAGE)
            assert {server.request(path, Accept="text/html").status for path in pages} == {200}
            cluster.command("import", "-", stdin=entry_line("com.example/news", "News."))
            # The stream is still open, and gets what came after the outage.
            assert any(b"resources/list_changed" in line for line in iter(stream.readline, b""))
        assert "Traceback" not in server.stop()


def test_a_stopped_database_holds_up_no_request_for_long(cluster: Cluster) -> None:
    key = cluster.new_key("--limit", 20)
    with cluster.serve("one") as server:
        assert server.search("weather", key).status == 200
        cluster.engine.pause()
        try:
            until(lambda: server.search("weather", key).status == 503, "requests with a key are rejected", TIMEOUT)
            assert server.request("/healthz").status == 200
        finally:
            cluster.engine.resume()
        until(lambda: server.search("weather", key).status == 200, "requests with a key are served", TIMEOUT)


def test_one_of_both_performs_the_tasks_of_the_database(cluster: Cluster) -> None:
    with cluster.serve("one"), cluster.serve("two"):

        def due() -> list[tuple[str, float]]:
            with psycopg.connect(cluster.engine.conninfo) as connection:
                query = "SELECT name, due - extract(epoch FROM clock_timestamp())::float8 FROM task ORDER BY name"
                return connection.execute(query).fetchall()

        found = until(lambda: tasks if len(tasks := due()) == 3 else None, "all tasks have been claimed")
        assert [name for name, _ in found] == ["analyses", "attempts", "quota"]
        assert all(3_000 < seconds <= 3_600 for name, seconds in found if name != "attempts")


def test_status_names_the_database_and_the_processes(cluster: Cluster) -> None:
    with cluster.serve("one"), cluster.serve("two"):

        def processes() -> int:
            return cluster.command("status").count("\nprocess  ")

        until(lambda: processes() == 2, "both processes are listed")
        assert f"database        {place(cluster.engine.conninfo)}\n" in cluster.command("status")


def test_the_search_of_rest_is_the_same_at_both(cluster: Cluster) -> None:
    key = cluster.new_key("--limit", "unlimited")
    lines = [entry_line(f"com.example/tool-{number}", "Reads files.") for number in range(30)]
    with cluster.serve("one") as one:
        cluster.command("import", "-", stdin="".join(lines))
        until(lambda: one.entry_count() == 30, "the entries are in the index")
        # One has got them by changes, the other loads them.
        with cluster.serve("two") as two:
            pages = [json.loads(each.request(f"{SEARCH}?keywords=files&limit=30", key).body) for each in (one, two)]
    assert len(pages[0]["data"]) == 30
    assert pages[0] == pages[1]


def test_a_published_version_is_immutable_and_found_by_both(cluster: Cluster, tmp_path: Path) -> None:
    key = cluster.new_key("--limit", "unlimited")
    token = cluster.command("publisher", "create", "--label", "ci", "--namespace", "io.acme/*").strip()
    settings = ("--set", "publish.enabled=true")
    with cluster.serve("one", *settings) as one, cluster.serve("two", *settings) as two:
        publishers = []
        for number, server in enumerate((one, two)):
            home = tmp_path / f"home {number}"
            home.mkdir()
            publishers.append(McpPublisher(home))
            publishers[-1].login_github(server.url, token)
        document = {"name": "io.acme/weather", "description": "Forecasts of the weather.", "version": "1.0.0"}
        assert publishers[0].publish(document) == ("io.acme/weather", "1.0.0")
        with pytest.raises(PublisherFailed, match="version_exists"):
            publishers[1].publish(document)
        until(lambda: one.entry_count() == two.entry_count() == 1, "the entry is in both indexes")
        assert two.search_names("weather", key) == ["io.acme/weather"]
        assert publishers[1].status("io.acme/weather", "1.0.0", "deleted") == ("active", "deleted")
        until(lambda: one.entry_count() == two.entry_count() == 0, "the entry is gone")
        (shown,) = json.loads(cluster.command("publisher", "list", "--json"))
        cluster.command("publisher", "revoke", shown["id"])
        for publisher in publishers:
            with pytest.raises(PublisherFailed, match="status 401"):
                publisher.publish({**document, "version": "2.0.0"})
        outcomes = [each["outcome"] for each in json.loads(cluster.command("publisher", "log", "--json"))]
        assert outcomes == ["done", "version_exists", "done"]
