"""A sync run under a clock that was wrong does not keep the next ones from being taken."""

from __future__ import annotations

import pytest
from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock, deferLater

from directory_server.domain.upstreams import SyncProgress, UpstreamState
from directory_server.mirror import UpstreamFailed
from directory_server.mirror._credible import LEEWAY, SKEW, credible
from directory_server.mirror._service import UpstreamService

from ..contract import awaited
from .conftest import NAME, World
from .registry import NOW, served

YEARS = 2 * 365 * 86_400.0


def test_times_that_can_be_true_are_kept() -> None:
    state = UpstreamState(
        "a",
        last_round=NOW + LEEWAY,
        last_success=NOW + LEEWAY,
        next_round=NOW + 3_600,
        mark=NOW + SKEW,
        walked_at=NOW + LEEWAY,
        walk=SyncProgress(True, NOW + SKEW, "there"),
    )
    assert credible(state, NOW, 3_600) == state
    past = evolve(state, last_round=1.0, last_success=1.0, next_round=1.0, mark=1.0, walked_at=1.0)
    assert credible(past, NOW, 3_600) == past
    assert credible(UpstreamState("a"), NOW, 3_600) == UpstreamState("a")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"last_round": NOW + LEEWAY + 1, "next_round": NOW + 60}, {}),
        ({"last_success": NOW + LEEWAY + 1}, {}),
        ({"next_round": NOW + 3_601}, {}),
        ({"mark": NOW + SKEW + 1}, {}),
        ({"walked_at": NOW + LEEWAY + 1}, {}),
        ({"walk": SyncProgress(True, NOW + SKEW + 1, "there")}, {}),
        ({"mark": NOW + YEARS, "walked": 5, "entries": 7}, {"walked": 5, "entries": 7}),
    ],
)
def test_times_too_far_ahead_are_void(written: dict[str, object], read: dict[str, object]) -> None:
    assert credible(evolve(UpstreamState("a"), **written), NOW, 3_600) == evolve(UpstreamState("a"), **read)  # type: ignore[arg-type]


async def ran(world: World) -> None:
    """Run the service as a process would that starts now, until it waits for the next look."""
    from twisted.internet import reactor

    clock = Clock()
    service = UpstreamService(world.mirror, world.upstream(), clock, world.clock.seconds)
    service.startService()
    clock.advance(0)
    while service._running is not None:
        await deferLater(reactor, 0.001)
    stopped = service.stopService()
    assert isinstance(stopped, Deferred | None)


@awaited
async def test_a_round_two_years_ahead_is_followed_by_one_as_soon_as_the_clock_is_right(world: World) -> None:
    world.registry.entries = [served("x/a")]
    world.clock.advance(YEARS)
    await ran(world)
    ahead = world.state()
    assert min(filter(None, (ahead.last_round, ahead.mark, ahead.walked_at, ahead.next_round))) > NOW + YEARS - 86_400
    world.clock.advance(-YEARS)
    world.registry.entries = [served("x/a"), served("x/b")]
    world.registry.asked.clear()
    await ran(world)
    assert "updated_since" not in world.registry.asked[0]
    assert world.names() == ["x/a", "x/b"]
    state = world.state()
    assert state.last_success == NOW
    assert NOW + 3_600 <= state.next_round <= NOW + 3_960
    # What is right is left alone.
    world.registry.asked.clear()
    await ran(world)
    assert world.registry.asked == []


@awaited
async def test_a_retry_two_years_ahead_is_not_waited_for(world: World) -> None:
    world.clock.advance(YEARS)
    with pytest.raises(UpstreamFailed):
        await world.mirror.sync(world.upstream("down"))
    world.clock.advance(-YEARS)
    world.registry.entries = [served("x/a")]
    await ran(world)
    assert world.names() == ["x/a"]


@awaited
async def test_what_an_upstream_asks_for_is_waited_for(world: World) -> None:
    with pytest.raises(UpstreamFailed):
        await world.mirror.sync(world.upstream("down"))
    world.registry.asked.clear()
    world.clock.advance(7_100)
    await ran(world)
    assert world.registry.asked == []
    world.clock.advance(800)
    await ran(world)
    assert world.registry.asked != []


@awaited
async def test_a_lease_two_years_ahead_keeps_nobody_out(world: World) -> None:
    assert await world.mirrors.hold(NAME, "other", now=NOW + YEARS, until=NOW + YEARS + 60)
    world.registry.entries = [served("x/a")]
    await ran(world)
    assert world.names() == ["x/a"]
