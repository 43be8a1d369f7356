"""A server while its database is killed, stopped or busy."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import psycopg
import pytest

from directory_server.domain.entries import mcp_id_of

from ..engines import Engine
from ..process.conftest import SEARCH, Server, entry_line, until
from ..process.test_metrics import metric
from ._machines import health
from .conftest import Cluster

pytestmark = pytest.mark.process

CONNECTIONS = 3
"""The smallest number of connections of a process."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Iterator[tuple[Cluster, Server]]:
    """Return a database with an entry, and a server on it that all tests of the module share."""
    engine.renew()
    cluster = Cluster(engine, tmp_path_factory.mktemp("site"))
    cluster.command("import", "-", stdin=entry_line("com.example/weather", "Forecasts of the weather."))
    settings = (
        "metrics.listen=tcp:0:interface=127.0.0.1",
        "web.search=public",
        "registry.access=public",
        f"database_connections={CONNECTIONS}",
    )
    with cluster.serve("one", *(word for setting in settings for word in ("--set", setting))) as server:
        yield cluster, server
        log = server.stop()
    assert "Database unavailable: " in log
    assert "Database available again" in log


def test_a_database_that_is_killed_is_away_until_it_is_back(site: tuple[Cluster, Server]) -> None:
    cluster, server = site
    key = cluster.new_key("--limit", "unlimited")
    assert health(server) == "available"
    assert metric(server.metrics_text(), "directory_database_up") == 1
    until(lambda: metric(server.metrics_text(), "directory_log_behind") == 0, "the log has been applied")
    # The poll of the bus is on this link.
    timed = 'directory_database_seconds_count{link="reads"}'
    until(lambda: metric(server.metrics_text(), timed) > 0, "a statement has been timed")
    assert server.search("weather", key).status == 200
    began = datetime.now(UTC)
    cluster.engine.kill()
    until(lambda: server.search("weather", key).status == 503, "requests with a key are rejected")
    rejected = server.search("weather", key)
    assert (rejected.status, rejected.json["error"], rejected.headers["Retry-After"]) == (503, "unavailable", "1")
    until(lambda: health(server) == "away", "the outage is reported")
    # The time is in whole seconds.
    since = datetime.fromisoformat(server.request("/healthz").json["since"])
    assert -1 <= (since - began).total_seconds() <= (datetime.now(UTC) - began).total_seconds()
    assert metric(server.metrics_text(), "directory_database_up") == 0
    # The other machines have the same database: the balancer keeps this one.
    assert server.request("/readyz").status == 200
    cluster.engine.start()
    until(lambda: server.search("weather", key).status == 200, "requests with a key are served")
    until(lambda: health(server) == "available", "the recovery is reported")
    assert server.request("/healthz").json["since"] is None
    assert metric(server.metrics_text(), "directory_database_up") == 1


def test_pages_without_entries_and_streams_continue_in_an_outage(site: tuple[Cluster, Server]) -> None:
    cluster, server = site
    key = cluster.new_key()
    pages = ("/?q=weather", f"/servers/{mcp_id_of('com.example/weather')}")
    # The start page has what it had before.
    others = ("/", "/docs", "/docs/operations", "/docs/api", "/favicon.ico", "/healthz", "/readyz")
    assert {server.request(path, Accept="text/html").status for path in (*pages, *others)} == {200}
    with server.open_stream(key) as stream:
        cluster.engine.kill()
        until(lambda: health(server) == "away", "the outage is reported")
        for path in pages:
            response = server.request(path, Accept="text/html")
            assert (response.status, response.headers["Retry-After"]) == (503, "1"), path
            assert response.headers["Content-Type"].startswith("text/html")
        assert {server.request(path, Accept="text/html").status for path in others} == {200}
        cluster.engine.start()
        until(lambda: health(server) == "available", "the recovery is reported")
        assert {server.request(path, Accept="text/html").status for path in pages} == {200}
        cluster.command("import", "-", stdin=entry_line("com.example/news", "News."))
        # The stream is still open, and gets what came after the outage.
        assert any(b"resources/list_changed" in line for line in iter(stream.readline, b""))


def test_a_server_has_a_limited_number_of_connections(site: tuple[Cluster, Server]) -> None:
    cluster, server = site
    metered = cluster.new_key("--limit", 1_000)
    paths = ["/v0.1/servers?limit=", "/v0.1/servers/com.example%2Fweather/versions", f"{SEARCH}?keywords=weather"]
    count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'directory-server'"
    found: list[int] = []
    with (
        ThreadPoolExecutor(12) as threads,
        psycopg.connect(cluster.engine.conninfo, autocommit=True) as observer,
        psycopg.connect(cluster.engine.conninfo) as other,
    ):
        # Lists wait for the table, so that as many transactions run as may.
        with other.transaction():
            other.execute("LOCK TABLE record IN ACCESS EXCLUSIVE MODE")
            lists = [threads.submit(server.request, f"{paths[0]}{number + 1}") for number in range(8)]
            until(lambda: observer.execute(count).fetchone() == (CONNECTIONS,), "all connections are open")
            # Charges do not wait for them.
            assert server.request(paths[2], metered).status == 200
        assert {each.result().status for each in lists} == {200}
        for response in [threads.submit(server.request, each, metered) for each in [f"{paths[0]}5", *paths[1:]] * 12]:
            assert response.result().status == 200
            ((connections,),) = observer.execute(count).fetchall()
            found.append(connections)
    assert max(found) == CONNECTIONS
