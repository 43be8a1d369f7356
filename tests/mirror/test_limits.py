"""Limits of stored entries per upstream, and the error when one is exceeded."""

from __future__ import annotations

import pytest
from attrs import evolve

from directory_server.domain.publishing import SourceLimits
from directory_server.mirror import Mirror, UpstreamFailed

from ..contract import awaited
from .conftest import NAME, Harness
from .registry import registry_entry


def limited_mirror(harness: Harness, entries: int) -> Mirror:
    """Return a mirror whose store accepts at most `entries` names of the upstream."""
    store = evolve(harness.store, limits={NAME: SourceLimits(entries, 10_000_000)})
    return harness.other_mirror("first", store.publish)


@awaited
async def test_entries_over_a_limit_are_not_stored_and_reported(harness: Harness) -> None:
    mirror, upstream = limited_mirror(harness, 5), harness.upstream(max_entries=5)
    harness.registry.entries = [registry_entry(f"x/{number}") for number in range(5)]
    await mirror.sync(upstream)
    harness.registry.entries = [registry_entry(f"x/{number}", description="It snows.") for number in range(1, 8)]
    for _ in range(2):
        with pytest.raises(UpstreamFailed) as caught:
            await mirror.sync(upstream, full=True)
        assert caught.value.message == (
            "It exceeds its limits, max_entries = 5 and max_bytes = 1000000000: 3 entries not stored, "
            "and nothing was removed. Raise the limits of the upstream official, or exclude names."
        )
    # Stored entries are updated.
    assert harness.names() == [f"x/{number}" for number in range(5)]
    assert [harness.brief(f"x/{number}") for number in range(5)] == ["It rains.", *["It snows."] * 4]
    state = harness.state()
    assert (state.failures, state.error, state.entries) == (2, caught.value.message, 5)
    # A higher limit accepts all entries.
    await limited_mirror(harness, 50).sync(upstream)
    assert harness.names() == [f"x/{number}" for number in range(1, 8)]
    assert harness.state().error == ""


@awaited
async def test_a_sync_ends_after_many_entries_over_the_limit(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.mirror._sync_run.MAX_OVER_LIMIT", 1_000)
    monkeypatch.setattr("directory_server.mirror._sync_run.BATCH", 100)
    with pytest.raises(UpstreamFailed, match=r"1,000 entries not stored"):
        await limited_mirror(harness, 500).sync(harness.upstream("endless-names"))
    assert harness.state().entries == 500
    assert len(harness.registry.requests) == 15


@awaited
async def test_the_number_of_versions_is_limited(harness: Harness) -> None:
    harness.registry.entries = [registry_entry("x/a", f"1.{number}.0") for number in range(1_000)]
    harness.registry.page_size = 100
    report = await harness.mirror.sync(harness.upstream())
    assert (report.entries, report.added + report.too_old) == (1_000, 1_000)
    assert harness.names() == ["x/a"]
    assert len(await harness.store.versions("x/a")) == 200
    assert (await harness.store.versions("x/a"))[0].version == "1.999.0"
