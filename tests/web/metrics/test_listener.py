"""The listener for metrics has the limits of the main listener."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from attrs import define
from twisted.internet.task import Clock
from twisted.logger import LogEvent

from directory_server.http import Connections
from directory_server.http.proxies import Proxies
from directory_server.runtime.run_sync import inline
from directory_server.runtime.turn import ImmediateTurn
from directory_server.web.access_log import AccessRecorder
from directory_server.web.metrics import CONNECTIONS, Metrics, MetricsHandlers
from directory_server.web.origins import Origins
from directory_server.web.routing import Routes
from directory_server.web.site import MetricsSite

from ...http._connection_steps import is_closed
from ..conftest import Connection, parse_response


@define(eq=False)
class Listener:
    """The site of the metrics, whose time is `clock`."""

    site: Any
    connections: Any
    clock: Clock

    def advance(self, seconds: int) -> None:
        self.clock.pump([1.0] * seconds)

    def get(self, path: str, *lines: str, method: str = "GET", host: str = "localhost") -> Any:
        """Return the response to a request with the header lines `lines`."""
        connection = Connection(self.site)
        connection.send("\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {host}", *lines, "", ""]).encode())
        return parse_response(connection.received())


@pytest.fixture
def offload() -> Any:
    """Return how a scrape runs; tests parametrize it."""
    return inline


@pytest.fixture
def listener(offload: Any) -> Iterator[Listener]:
    clock = Clock()
    connections = Connections(
        clock,
        Proxies(),
        limit=CONNECTIONS,
        per_address=CONNECTIONS,
        grace=10,
        queued=1_000_000,
        sockets=CONNECTIONS,
        at_end=ImmediateTurn().at_end,
    )
    connections.startService()
    turn: Any = ImmediateTurn()
    # The layout renders errors for browsers.
    routes = Routes([MetricsHandlers(Metrics(), offload).app], None)  # type: ignore[arg-type]
    access = AccessRecorder(clock.seconds, [], turn)
    yield Listener(
        MetricsSite(routes, Origins(["localhost"], frozenset()), connections, access, clock), connections, clock
    )
    connections.stopService()


def test_metrics_are_served_in_both_formats(listener: Listener) -> None:
    plain = listener.get("/metrics")
    assert (plain.status, b"# TYPE directory_requests_total counter" in plain.body) == (200, True)
    assert plain.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    accept = "Accept: application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4"
    openmetrics = listener.get("/metrics", accept)
    assert openmetrics.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    assert openmetrics.body.endswith(b"# EOF\n")
    named = listener.get("/metrics?name[]=directory_quota_exceeded_total")
    assert {line.split()[0] for line in named.body.splitlines() if not line.startswith(b"#")} == {
        b"directory_quota_exceeded_total"
    }
    packed = listener.get("/metrics", "Accept-Encoding: gzip")
    assert packed.headers["Content-Encoding"] == "gzip"


@pytest.mark.parametrize("version", ["abc", "..", "9" * 5_000, '"1.0.0"', "1.0.0.x"])
def test_a_version_that_cannot_be_read_is_ignored(listener: Listener, version: str) -> None:
    response = listener.get("/metrics", f"Accept: application/openmetrics-text; version={version}")
    assert (response.status, response.headers["Content-Type"].partition(";")[0]) == (200, "text/plain")


def test_a_host_or_origin_that_is_not_allowed_is_rejected(listener: Listener) -> None:
    assert listener.get("/metrics", host="localhost:9090").status == 200
    for path in ("/metrics", "/"):
        response = listener.get(path, host="attacker.example")
        assert (response.status, b"'attacker.example' is not allowed" in response.body) == (403, True)
    assert listener.get("/metrics", "Origin: https://attacker.example").status == 403
    assert listener.get("/metrics", host="").status == 400
    connection = Connection(listener.site)
    connection.send(b"GET /metrics HTTP/1.0\r\n\r\n")
    assert parse_response(connection.received()).status == 400


def test_other_requests_are_errors(listener: Listener) -> None:
    assert [listener.get(path).status for path in ("/", "/metrics/x", "/%ff")] == [404] * 3
    assert listener.get("//metrics").headers["Location"] == "/metrics"
    assert listener.get("/metrics", method="POST").status == 405
    assert listener.get("/metrics", "X: " + "a" * 100_000).status == 431
    assert listener.get("/metrics", "Content-Length: 1000000000", method="POST").status == 413


def test_slow_and_idle_connections_are_closed(listener: Listener) -> None:
    idle, slow = Connection(listener.site), Connection(listener.site)
    slow.send(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n")
    for _ in range(4):
        listener.advance(3)
        slow.send(b"X: a\r\n")
    assert parse_response(slow.received()).status == 408
    assert not is_closed(idle)
    listener.advance(76)
    assert is_closed(idle)


def test_the_number_of_connections_is_bounded(listener: Listener) -> None:
    opened = [Connection(listener.site) for _ in range(CONNECTIONS + 1)]
    assert [is_closed(each) for each in opened] == [*[False] * CONNECTIONS, True]


async def fail(*_: Any) -> Any:
    raise RuntimeError("secret")


@pytest.mark.parametrize("offload", [fail])
def test_metrics_that_cannot_be_collected_are_an_error(listener: Listener, logged_failures: list[LogEvent]) -> None:
    response = listener.get("/metrics")
    assert (response.status, b"secret" in response.body) == (500, False)
    (event,) = logged_failures
    assert event["log_failure"].check(RuntimeError)
    logged_failures.clear()
