"""An upstream stores no more than it may, and the operator learns of the rest."""

from __future__ import annotations

import pytest
from attrs import evolve

from directory_server.mirror import Mirror, UpstreamFailed
from directory_server.sqlite import SourceLimits

from ..contract import awaited
from .conftest import NAME, World
from .registry import served


def limited(world: World, entries: int) -> Mirror:
    """Return a mirror whose store keeps so many names of the upstream."""
    store = evolve(world.store, limits={NAME: SourceLimits(entries, 10_000_000)})
    return world.follower("first", store.publish)


@awaited
async def test_what_is_beyond_a_limit_is_not_stored_and_the_round_says_so(world: World) -> None:
    mirror, upstream = limited(world, 5), world.upstream(max_entries=5)
    world.registry.entries = [served(f"x/{number}") for number in range(5)]
    await mirror.sync(upstream)
    world.registry.entries = [served(f"x/{number}", description="It snows.") for number in range(1, 8)]
    for _ in range(2):
        with pytest.raises(UpstreamFailed) as caught:
            await mirror.sync(upstream, full=True)
        assert caught.value.message == (
            "It exceeds its limits, max_entries = 5 and max_bytes = 1000000000: 3 entries were not stored, "
            "and nothing was removed. Raise the limits of the upstream official, or exclude names."
        )
    # What is known goes on.
    assert world.names() == [f"x/{number}" for number in range(5)]
    assert [world.brief(f"x/{number}") for number in range(5)] == ["It rains.", *["It snows."] * 4]
    state = world.state()
    assert (state.failures, state.error, state.entries) == (2, caught.value.message, 5)
    # With a higher limit everything comes.
    await limited(world, 50).sync(upstream)
    assert world.names() == [f"x/{number}" for number in range(1, 8)]
    assert world.state().error == ""


@awaited
async def test_an_upstream_without_end_is_left_soon(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.mirror._sync_run.MAX_OVER_LIMIT", 1_000)
    monkeypatch.setattr("directory_server.mirror._sync_run.BATCH", 100)
    with pytest.raises(UpstreamFailed, match=r"1,000 entries were not stored"):
        await limited(world, 500).sync(world.upstream("unique"))
    assert world.state().entries == 500
    assert len(world.registry.asked) == 15


@awaited
async def test_versions_without_end_are_dropped(world: World) -> None:
    world.registry.entries = [served("x/a", f"1.{number}.0") for number in range(1_000)]
    world.registry.size = 100
    report = await world.mirror.sync(world.upstream())
    assert (report.entries, report.added + report.too_old) == (1_000, 1_000)
    assert world.names() == ["x/a"]
    assert len(await world.store.versions("x/a")) == 200
    assert (await world.store.versions("x/a"))[0].version == "1.999.0"
