"""Stored times from a wrong clock do not delay the next sync run."""

from __future__ import annotations

import pytest
from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock, deferLater

from directory_server.domain.upstreams import LEEWAY, SKEW, SyncProgress, UpstreamState, credible
from directory_server.mirror import UpstreamFailed
from directory_server.mirror._service import UpstreamService

from ..contract import awaited
from .conftest import Harness
from .registry import NOW, registry_entry

YEARS = 2 * 365 * 86_400.0


def test_credible_times_are_kept() -> None:
    state = UpstreamState(
        "a",
        last_run=NOW + LEEWAY,
        last_success=NOW + LEEWAY,
        next_run=NOW + 3_600,
        updated_since=NOW + SKEW,
        full_sync_at=NOW + LEEWAY,
        progress=SyncProgress(True, NOW + SKEW, "cursor"),
    )
    assert credible(state, NOW, 3_600) == state
    past = evolve(state, last_run=1.0, last_success=1.0, next_run=1.0, updated_since=1.0, full_sync_at=1.0)
    assert credible(past, NOW, 3_600) == past
    assert credible(UpstreamState("a"), NOW, 3_600) == UpstreamState("a")


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ({"last_run": NOW + LEEWAY + 1, "next_run": NOW + 60}, {}),
        ({"last_success": NOW + LEEWAY + 1}, {}),
        ({"next_run": NOW + 3_601}, {}),
        ({"updated_since": NOW + SKEW + 1}, {}),
        ({"full_sync_at": NOW + LEEWAY + 1}, {}),
        ({"progress": SyncProgress(True, NOW + SKEW + 1, "cursor")}, {}),
        ({"updated_since": NOW + YEARS, "full_sync_names": 5, "entries": 7}, {"full_sync_names": 5, "entries": 7}),
    ],
)
def test_times_too_far_in_the_future_are_discarded(stored: dict[str, object], expected: dict[str, object]) -> None:
    assert credible(evolve(UpstreamState("a"), **stored), NOW, 3_600) == evolve(UpstreamState("a"), **expected)  # type: ignore[arg-type]


async def run_service(harness: Harness) -> None:
    """Start the service as a new process does, and stop it when it waits for its next check."""
    from twisted.internet import reactor

    clock = Clock()
    service = UpstreamService(harness.mirror, harness.upstream(), clock, harness.clock.seconds)
    service.startService()
    clock.advance(0)
    while service._running is not None:
        await deferLater(reactor, 0.001)
    stopped = service.stopService()
    assert isinstance(stopped, Deferred | None)


@awaited
async def test_a_sync_run_two_years_ahead_does_not_delay_the_next_one(harness: Harness) -> None:
    harness.registry.entries = [registry_entry("x/a")]
    harness.clock.advance(YEARS)
    await run_service(harness)
    ahead = harness.state()
    assert (
        min(filter(None, (ahead.last_run, ahead.updated_since, ahead.full_sync_at, ahead.next_run)))
        > NOW + YEARS - 86_400
    )
    harness.clock.advance(-YEARS)
    harness.registry.entries = [registry_entry("x/a"), registry_entry("x/b")]
    harness.registry.requests.clear()
    await run_service(harness)
    assert "updated_since" not in harness.registry.requests[0]
    assert harness.names() == ["x/a", "x/b"]
    state = harness.state()
    assert state.last_success == NOW
    assert NOW + 3_600 <= state.next_run <= NOW + 3_960
    # Credible times are kept: the next sync run is not due.
    harness.registry.requests.clear()
    await run_service(harness)
    assert harness.registry.requests == []


@awaited
async def test_a_retry_time_two_years_ahead_is_ignored(harness: Harness) -> None:
    harness.clock.advance(YEARS)
    with pytest.raises(UpstreamFailed):
        await harness.mirror.sync(harness.upstream("unavailable"))
    harness.clock.advance(-YEARS)
    harness.registry.entries = [registry_entry("x/a")]
    await run_service(harness)
    assert harness.names() == ["x/a"]


@awaited
async def test_retry_after_of_an_upstream_is_respected(harness: Harness) -> None:
    with pytest.raises(UpstreamFailed):
        await harness.mirror.sync(harness.upstream("unavailable"))
    harness.registry.requests.clear()
    harness.clock.advance(7_100)
    await run_service(harness)
    assert harness.registry.requests == []
    harness.clock.advance(800)
    await run_service(harness)
    assert harness.registry.requests != []
