"""Sync runs that are interrupted: resumed runs, Retry-After, storage errors and leases."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

from directory_server.domain.changes import Outcome
from directory_server.domain.entries import Entry
from directory_server.domain.errors import Unavailable
from directory_server.importer import BATCH
from directory_server.mirror import UpstreamBusy, UpstreamFailed

from ..contract import awaited
from .conftest import NAME, Harness
from .registry import ABC, numbered_entries, registry_entry


@awaited
async def test_an_interrupted_sync_is_resumed(harness: Harness) -> None:
    harness.registry.entries, harness.registry.page_size = numbered_entries(3 * BATCH), BATCH
    harness.registry.fail_after = 2
    with pytest.raises(UpstreamFailed, match=r"It answered 500\."):
        await harness.mirror.sync(harness.upstream())
    assert len(harness.names()) == 2 * BATCH
    harness.registry.fail_after, harness.registry.requests = 1_000, []
    report = await harness.mirror.sync(harness.upstream())
    assert report.resumed
    assert [request["cursor"] for request in harness.registry.requests] == [str(2 * BATCH)]
    assert len(harness.names()) == harness.state().full_sync_names == 3 * BATCH
    assert report.removed == 0


async def sync_without_pauses(harness: Harness) -> None:
    """Run a sync; advance the clock over its pauses of two seconds."""
    from twisted.internet import reactor

    syncing = Deferred.fromCoroutine(harness.mirror.sync(harness.upstream()))
    while not syncing.called:
        await deferLater(reactor, 0.001)
        if any(call.getTime() == harness.clock.seconds() + 2 for call in harness.clock.getDelayedCalls()):
            harness.clock.advance(2)
    await syncing


@awaited
async def test_a_short_retry_after_pauses_the_sync(harness: Harness) -> None:
    harness.registry.entries = [registry_entry(f"x/{letter}") for letter in "abcdefg"]
    harness.registry.busy = 1
    await sync_without_pauses(harness)
    assert sorted(harness.names()) == [f"x/{letter}" for letter in "abcdefg"]
    assert len(harness.registry.requests) == 8
    assert harness.state().failures == 0


@awaited
async def test_repeated_retry_after_fails_the_sync(harness: Harness) -> None:
    harness.registry.entries = [registry_entry("x/a")]
    harness.registry.busy = 100
    with pytest.raises(UpstreamFailed, match=r"It answered 429\."):
        await sync_without_pauses(harness)
    assert len(harness.registry.requests) == 5
    assert harness.state().failures == 1


@awaited
async def test_an_expired_cursor_restarts_the_sync(harness: Harness) -> None:
    harness.registry.entries, harness.registry.page_size = numbered_entries(2 * BATCH), BATCH
    harness.registry.fail_after = 1
    with pytest.raises(UpstreamFailed):
        await harness.mirror.sync(harness.upstream())
    harness.registry.fail_after, harness.registry.expired = 1_000, True
    with pytest.raises(UpstreamFailed, match=r"It answered 400\."):
        await harness.mirror.sync(harness.upstream())
    harness.registry.expired, harness.registry.requests = False, []
    assert not (await harness.mirror.sync(harness.upstream())).resumed
    assert "cursor" not in harness.registry.requests[0]
    assert len(harness.names()) == 2 * BATCH


@awaited
async def test_a_failed_publish_is_repeated_by_the_next_sync(harness: Harness) -> None:
    full = True

    async def publish(source: str, entries: Sequence[Entry]) -> Sequence[Outcome]:
        if full and len(harness.names()) >= BATCH:
            raise Unavailable("directory.db cannot be used now: the disk is full.")
        return await harness.store.publish(source, entries)

    harness.registry.entries, harness.registry.page_size = numbered_entries(2 * BATCH), BATCH
    mirror = harness.other_mirror("first", publish)
    with pytest.raises(Unavailable):
        await mirror.sync(harness.upstream())
    assert harness.state().error == "directory.db cannot be used now: the disk is full."
    full = False
    assert (await mirror.sync(harness.upstream())).resumed
    assert len(harness.names()) == 2 * BATCH


@awaited
async def test_one_process_holds_the_lease(harness: Harness) -> None:
    harness.registry.entries = ABC
    other = harness.other_mirror("other")
    assert await harness.mirrors.hold(NAME, "other", seconds=60)
    with pytest.raises(UpstreamBusy, match=r"Another process is syncing official\."):
        await harness.mirror.sync(harness.upstream())
    assert harness.registry.requests == []
    assert harness.state().failures == 0
    # The other process stopped, so its lease ends.
    harness.clock.advance(60)
    await harness.mirror.sync(harness.upstream())
    assert harness.names() == ["x/a", "x/b", "x/c"]
    await other.sync(harness.upstream())


@awaited
async def test_a_lost_lease_ends_the_sync(harness: Harness) -> None:
    published = []

    async def publish(source: str, entries: Sequence[Entry]) -> Sequence[Outcome]:
        published.append(len(entries))
        harness.clock.advance(61)
        assert await harness.mirrors.hold(NAME, "other", seconds=60)
        return await harness.store.publish(source, entries)

    harness.registry.entries, harness.registry.page_size = numbered_entries(2 * BATCH), BATCH
    with pytest.raises(UpstreamBusy):
        await harness.other_mirror("first", publish).sync(harness.upstream())
    assert published == [BATCH]
