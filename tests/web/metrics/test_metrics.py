"""Metrics: counters, histograms and gauges read at a scrape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import define
from twisted.internet.task import Clock

from directory_server.domain.changes import Change
from directory_server.domain.upstreams import UpstreamState
from directory_server.runtime.run_sync import run_sync
from directory_server.web.access_log import AccessRecord
from directory_server.web.metrics import DatabaseGauges, Gauges, Lag, Metrics


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


def record(method: str = "GET", route: str = "/healthz", status: int = 200, seconds: float = 0.0007) -> Any:
    return AccessRecord(0.0, method, route, status, 5, seconds, "f2zca6az", "1")


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def test_requests_are_counted_by_route_method_and_status(metrics: Metrics) -> None:
    for status in (200, 200, 401):
        metrics.observe([record(status=status)])
    metrics.observe([record("-", "-", 400)])
    assert value(metrics, "directory_requests_total", api="/healthz", method="GET", status="200") == 2
    assert value(metrics, "directory_requests_total", api="/healthz", method="GET", status="401") == 1
    assert value(metrics, "directory_requests_total", api="-", method="-", status="400") == 1


def test_errors_are_counted_by_route_and_code_for_any_status(metrics: Metrics) -> None:
    errors = ("unavailable", "unavailable", "rate_limited")
    metrics.observe([record("POST", "/api/open/mcp")._replace(errors=errors)])
    assert value(metrics, "directory_errors_total", api="/api/open/mcp", code="unavailable") == 2
    assert value(metrics, "directory_errors_total", api="/api/open/mcp", code="rate_limited") == 1


def test_all_requests_of_a_turn_are_counted(metrics: Metrics) -> None:
    metrics.observe([record(seconds=seconds) for seconds in (0.0005, 0.0006, 60.0)])
    assert value(metrics, "directory_requests_total", api="/healthz", method="GET", status="200") == 3
    # A value at a bound belongs to the bucket of that bound.
    assert value(metrics, "directory_request_seconds_bucket", api="/healthz", le="0.0005") == 1
    assert value(metrics, "directory_request_seconds_count", api="/healthz") == 3
    assert value(metrics, "directory_request_seconds_sum", api="/healthz") == 60.0011


def test_index_builds_are_timed(metrics: Metrics) -> None:
    clock = Clock()
    applied: list[Sequence[Change]] = []

    class SlowSubscriber:
        async def apply(self, changes: Sequence[Change]) -> None:
            applied.append(changes)
            clock.advance(2.5)

    run_sync(metrics.builds(SlowSubscriber(), clock.seconds).apply([]))
    assert applied == [[]]
    assert value(metrics, "directory_index_build_seconds_count") == 1
    assert value(metrics, "directory_index_build_seconds_sum") == 2.5


@define
class Sized:
    number: int
    cuts: int = 0
    generation: int = 0

    def __len__(self) -> int:
        return self.number


def test_gauges_are_read_at_each_scrape(metrics: Metrics) -> None:
    index, hub, connections = Sized(3, generation=7), Sized(2, cuts=5), Sized(1)
    metrics.registry.register(Gauges(index, hub, connections))  # type: ignore[arg-type]
    names = [
        "directory_index_entries",
        "directory_index_generation",
        "directory_streams",
        "directory_stream_cuts_total",
        "directory_connections",
    ]
    assert [value(metrics, name) for name in names] == [3, 7, 2, 5, 1]
    hub.number = 4
    assert value(metrics, "directory_streams") == 4


def test_the_state_of_the_database_is_read_at_each_scrape(metrics: Metrics) -> None:
    state: dict[str, Any] = {"up": True, "behind": 3}
    names = ["directory_database_up", "directory_log_behind"]
    assert [value(metrics, name) for name in names] == [None, None]
    metrics.registry.register(DatabaseGauges(lambda: state["up"], lambda: state["behind"]))
    assert [value(metrics, name) for name in names] == [1, 3]
    state.update(up=False, behind=0)
    assert [value(metrics, name) for name in names] == [0, 0]


def test_answers_of_the_database_are_timed_for_each_link(metrics: Metrics) -> None:
    for link, seconds in (("charges", 0.0004), ("charges", 0.3), ("reads", 0.1)):
        metrics.database.labels(link).observe(seconds)
    name = "directory_database_seconds"
    assert value(metrics, f"{name}_bucket", link="charges", le="0.0005") == 1
    assert [value(metrics, f"{name}_count", link=link) for link in ("charges", "reads")] == [2, 1]


def test_upstream_gauges_have_one_sample_per_upstream(metrics: Metrics) -> None:
    upstreams = [UpstreamState("a", entries=3, last_success=5.0), UpstreamState("b", error="It answered 500.")]
    metrics.registry.register(Gauges(Sized(0), Sized(0), [], lambda: upstreams))  # type: ignore[arg-type]
    for name, values in {"failing": (0, 1), "entries": (3, 0), "last_success_timestamp_seconds": (5, 0)}.items():
        assert values == tuple(
            metrics.registry.get_sample_value(f"directory_upstream_{name}", {"upstream": each}) for each in "ab"
        )


def test_process_metrics_are_collected(metrics: Metrics) -> None:
    assert (value(metrics, "process_resident_memory_bytes") or 0) > 0


def test_lag_measures_how_late_the_reactor_is(metrics: Metrics) -> None:
    clock = Clock()
    late: list[float] = []
    lag = Lag(clock, late.append)
    lag.startService()
    clock.pump([0.5, 0.5, 3.25, 1.0])
    assert late == [0.0, 2.25, 0.0]
    lag.stopService()
    assert clock.getDelayedCalls() == []
    lag.stopService()


def test_an_error_of_an_observer_does_not_end_the_measurement_of_lag() -> None:
    clock = Clock()
    late: list[float] = []

    def observe(seconds: float) -> None:
        late.append(seconds)
        raise ValueError("unexpected")

    lag = Lag(clock, observe)
    lag.startService()
    for _ in range(2):
        with pytest.raises(ValueError, match="unexpected"):
            clock.advance(1.0)
    assert late == [0.0, 0.0]
    lag.stopService()
