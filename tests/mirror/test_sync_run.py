"""Sync runs: full, incremental, resumed, and removals."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

from directory_server.domain.changes import Outcome
from directory_server.domain.entries import OFFICIAL, Entry
from directory_server.domain.errors import Unavailable
from directory_server.mirror import UpstreamBusy, UpstreamFailed
from directory_server.mirror._sync_run import BATCH, FULL_INTERVAL
from directory_server.serialization import restore_entry

from ..contract import awaited
from .conftest import NAME, World
from .registry import NOW, lines, served

ABC = [served(f"x/{letter}") for letter in "abc"]


def many(number: int) -> list[dict[str, Any]]:
    return [served(f"x/{each:05}") for each in range(number)]


@awaited
async def test_the_first_sync_is_full(world: World) -> None:
    world.registry.entries = ABC
    report = await world.mirror.sync(world.upstream())
    assert world.names() == ["x/a", "x/b", "x/c"]
    assert (report.full, report.pages, report.entries, report.added) == (True, 2, 3, 3)
    assert world.registry.asked == [
        {"version": "latest", "limit": "100"},
        {"version": "latest", "limit": "100", "cursor": "2"},
    ]
    state = world.state()
    assert (state.entries, state.walked, state.last_success, state.error) == (3, 3, NOW, "")
    assert NOW + 3600 <= state.next_round <= NOW + 3960
    kept = (await world.store.listing(("", ""), 1))[0]
    assert restore_entry(kept.body) == Entry(ABC[0]["server"], ABC[0]["_meta"])


@awaited
async def test_requests_have_the_configured_headers(world: World) -> None:
    world.environ["TOKEN"] = "s3cret"
    await world.mirror.sync(world.upstream(headers=("Authorization: env:TOKEN",)))
    (headers,) = world.registry.headers
    assert headers["user-agent"].startswith("directory-server/")
    assert headers["authorization"] == "s3cret"
    assert headers["accept-encoding"] == "gzip"


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("A: env:NONE", "Its header A is in the variable NONE of the environment, which is not set."),
        ("A: file:/none", "Its header A is in the file /none, which cannot be read: No such file or directory."),
        ("A: env:EMPTY", "Its header A is in EMPTY, which holds no line of printable ASCII."),
    ],
)
@awaited
async def test_a_missing_or_invalid_header_fails(world: World, header: str, said: str) -> None:
    world.environ["EMPTY"] = ""
    with pytest.raises(UpstreamFailed) as caught:
        await world.mirror.sync(world.upstream(headers=(header,)))
    assert caught.value.message == world.state().error == said
    assert world.registry.asked == []


@awaited
async def test_a_later_sync_is_incremental(world: World) -> None:
    world.registry.entries = ABC
    await world.mirror.sync(world.upstream())
    world.registry.asked.clear()
    world.registry.changed = [served("x/b", description="It snows."), served("x/c", status="deleted"), served("x/d")]
    report = await world.mirror.sync(world.upstream())
    # Ten minutes before the registry's own clock at the beginning of the round before.
    assert world.registry.asked[0]["updated_since"] == "2027-01-15T07:50:00Z"
    assert world.registry.asked[0]["include_deleted"] == "true"
    assert (report.full, report.added, report.changed) == (False, 1, 2)
    assert world.names() == ["x/a", "x/b", "x/d"]
    assert world.brief("x/b") == "It snows."
    assert [change.kind for change in await world.store.changes(3, 9)] == ["changed", "removed", "added"]
    tombstone = await world.store.version("x/c", "latest")
    assert tombstone is not None
    assert tombstone.deleted


@awaited
async def test_an_unchanged_upstream_gets_conditional_requests(world: World) -> None:
    world.registry.entries, world.registry.etags = ABC, True
    for _ in range(3):
        await world.mirror.sync(world.upstream())
    *_, second, third = world.registry.asked
    assert second == third
    assert "if-none-match" not in world.registry.headers[-2]
    assert "if-none-match" in world.registry.headers[-1]
    assert world.names() == ["x/a", "x/b", "x/c"]
    assert world.state().last_success == NOW


@awaited
async def test_a_full_sync_removes_missing_entries(world: World) -> None:
    world.registry.entries = many(20)
    await world.mirror.sync(world.upstream())
    world.registry.entries = many(18)
    report = await world.mirror.sync(world.upstream(), full=True)
    assert (report.removed, world.state().entries, world.state().walked) == (2, 18, 18)
    assert "x/00019" not in world.names()
    (gone,) = await world.store.versions("x/00019")
    assert gone.deleted
    assert restore_entry(gone.body).meta[OFFICIAL]["status"] == "deleted"
    world.registry.entries = many(20)
    await world.mirror.sync(world.upstream(), full=True)
    assert len(world.names()) == 20


@awaited
async def test_a_full_sync_is_repeated(world: World) -> None:
    world.registry.entries = ABC
    await world.mirror.sync(world.upstream())
    world.clock.advance(FULL_INTERVAL)
    assert (await world.mirror.sync(world.upstream())).full


@awaited
async def test_too_many_missing_entries_are_an_error(world: World) -> None:
    world.registry.entries = many(20)
    await world.mirror.sync(world.upstream())
    world.registry.entries = [served("x/00000", description="It snows."), *many(17)[1:16]]
    with pytest.raises(UpstreamFailed) as caught:
        await world.mirror.sync(world.upstream(), full=True)
    assert caught.value.message == (
        "It has 16 entries where it had 20, fewer than 85%: nothing was removed. "
        "If that is right, lower the floor of the upstream official."
    )
    assert len(world.names()) == 20
    assert world.brief("x/00000") == "It snows."
    assert world.state().walked == 20
    await world.mirror.sync(world.upstream(floor=0.5), full=True)
    assert len(world.names()) == 16


@awaited
async def test_only_selected_names_are_published(world: World) -> None:
    world.registry.entries = [served("a/one"), served("b/two"), served("b/three"), served("c/four")]
    await world.mirror.sync(world.upstream(include=("a/*", "b/*"), exclude=("*/three",)))
    assert world.names() == ["a/one", "b/two"]
    assert world.state().walked == 4
    # Another choice is followed from the beginning, and what is not chosen any more goes.
    await world.mirror.sync(world.upstream(include=("b/*",)))
    assert world.names() == ["b/three", "b/two"]


@awaited
async def test_another_upstreams_entries_are_left_alone(world: World) -> None:
    await world.store.publish("other", [Entry(served("x/theirs")["server"])])
    await world.store.publish("local", [Entry({**served("x/a")["server"], "description": "Ours."})])
    world.registry.entries = ABC
    await world.mirror.sync(world.upstream())
    world.registry.entries = ABC[1:]
    await world.mirror.sync(world.upstream(floor=0.1), full=True)
    assert world.names() == ["x/a", "x/b", "x/c", "x/theirs"]
    assert world.brief("x/a") == "Ours."


@awaited
async def test_an_interrupted_sync_is_resumed(world: World) -> None:
    world.registry.entries, world.registry.size = many(3 * BATCH), BATCH
    world.registry.fail_after = 2
    with pytest.raises(UpstreamFailed, match=r"It answered 500\."):
        await world.mirror.sync(world.upstream())
    assert len(world.names()) == 2 * BATCH
    world.registry.fail_after, world.registry.asked = 1_000, []
    report = await world.mirror.sync(world.upstream())
    assert report.resumed
    assert [asked["cursor"] for asked in world.registry.asked] == [str(2 * BATCH)]
    assert len(world.names()) == world.state().walked == 3 * BATCH
    assert report.removed == 0


async def run_sync_run(world: World) -> None:
    """Run a sync run without waiting for its pauses."""
    from twisted.internet import reactor

    rounding = Deferred.fromCoroutine(world.mirror.sync(world.upstream()))
    while not rounding.called:
        await deferLater(reactor, 0.001)
        if any(call.getTime() == world.clock.seconds() + 2 for call in world.clock.getDelayedCalls()):
            world.clock.advance(2)
    await rounding


@awaited
async def test_a_short_retry_after_is_waited_for(world: World) -> None:
    world.registry.entries = [served(f"x/{letter}") for letter in "abcdefg"]
    world.registry.busy = 1
    await run_sync_run(world)
    assert sorted(world.names()) == [f"x/{letter}" for letter in "abcdefg"]
    assert len(world.registry.asked) == 8
    assert world.state().failures == 0


@awaited
async def test_repeated_retry_after_fails_the_sync(world: World) -> None:
    world.registry.entries = [served("x/a")]
    world.registry.busy = 100
    with pytest.raises(UpstreamFailed, match=r"It answered 429\."):
        await run_sync_run(world)
    assert len(world.registry.asked) == 5
    assert world.state().failures == 1


@awaited
async def test_an_expired_cursor_restarts_the_sync(world: World) -> None:
    world.registry.entries, world.registry.size = many(2 * BATCH), BATCH
    world.registry.fail_after = 1
    with pytest.raises(UpstreamFailed):
        await world.mirror.sync(world.upstream())
    world.registry.fail_after, world.registry.expired = 1_000, True
    with pytest.raises(UpstreamFailed, match=r"It answered 400\."):
        await world.mirror.sync(world.upstream())
    world.registry.expired, world.registry.asked = False, []
    assert not (await world.mirror.sync(world.upstream())).resumed
    assert "cursor" not in world.registry.asked[0]
    assert len(world.names()) == 2 * BATCH


@awaited
async def test_a_store_that_cannot_write_is_no_progress(world: World) -> None:
    full = True

    async def publish(source: str, entries: Sequence[Entry]) -> Sequence[Outcome]:
        if full and len(world.names()) >= BATCH:
            raise Unavailable("directory.db cannot be used now: the disk is full.")
        return await world.store.publish(source, entries)

    world.registry.entries, world.registry.size = many(2 * BATCH), BATCH
    mirror = world.follower("first", publish)
    with pytest.raises(Unavailable):
        await mirror.sync(world.upstream())
    assert world.state().error == "directory.db cannot be used now: the disk is full."
    full = False
    assert (await mirror.sync(world.upstream())).resumed
    assert len(world.names()) == 2 * BATCH


@awaited
async def test_one_process_holds_the_lease(world: World) -> None:
    world.registry.entries = ABC
    other = world.follower("other")
    assert await world.mirrors.hold(NAME, "other", now=NOW, until=NOW + 60)
    with pytest.raises(UpstreamBusy, match=r"Another process is syncing official\."):
        await world.mirror.sync(world.upstream())
    assert world.registry.asked == []
    assert world.state().failures == 0
    # It does not come back.
    world.clock.advance(60)
    await world.mirror.sync(world.upstream())
    assert world.names() == ["x/a", "x/b", "x/c"]
    await other.sync(world.upstream())


@awaited
async def test_a_lost_lease_ends_the_sync(world: World) -> None:
    taken = []

    async def publish(source: str, entries: Sequence[Entry]) -> Sequence[Outcome]:
        taken.append(len(entries))
        world.clock.advance(61)
        assert await world.mirrors.hold(NAME, "other", now=world.clock.seconds(), until=world.clock.seconds() + 60)
        return await world.store.publish(source, entries)

    world.registry.entries, world.registry.size = many(2 * BATCH), BATCH
    with pytest.raises(UpstreamBusy):
        await world.follower("first", publish).sync(world.upstream())
    assert taken == [BATCH]


@awaited
async def test_progress_is_reported(world: World) -> None:
    world.registry.entries = ABC
    told: list[tuple[int, int, int]] = []
    for _ in range(2):
        await world.mirror.sync(
            world.upstream(), full=True, on_progress=lambda each: told.append((each.pages, each.entries, each.expected))
        )
    assert told == [(1, 2, 0), (2, 3, 0), (1, 2, 3), (2, 3, 3)]


@pytest.mark.parametrize("name", ["list.json", "list.jsonl", "list.jsonl.gz"])
@awaited
async def test_a_list_without_an_api_is_followed_too(world: World, name: str) -> None:
    body = lines(ABC)
    world.registry.body = gzip.compress(body) if name.endswith(".gz") else body
    upstream = world.upstream(f"file/{name}")
    report = await world.mirror.sync(upstream)
    assert (report.full, report.entries, world.names()) == (True, 3, ["x/a", "x/b", "x/c"])
    again = await world.mirror.sync(upstream)
    assert (again.entries, world.registry.headers[-1].get("if-none-match") is not None) == (0, True)
    assert world.names() == ["x/a", "x/b", "x/c"]
    world.registry.body = lines([*ABC[:2], served("x/d"), served("x/e")])
    assert (await world.mirror.sync(upstream)).removed == 1
    assert world.names() == ["x/a", "x/b", "x/d", "x/e"]


@awaited
async def test_a_list_that_breaks_off_removes_nothing(world: World) -> None:
    upstream = world.upstream("file/list.json")
    world.registry.body = lines(ABC)
    await world.mirror.sync(upstream)
    world.registry.body = b'{"servers": [' + lines(ABC[:1]).strip() + b', {"server"'
    with pytest.raises(UpstreamFailed, match=r"Its file cannot be read completely\. "):
        await world.mirror.sync(upstream)
    assert world.names() == ["x/a", "x/b", "x/c"]


@awaited
async def test_a_list_with_a_line_that_cannot_be_read_removes_nothing(world: World) -> None:
    upstream = world.upstream("file/list.jsonl")
    world.registry.body = lines([served(f"x/{each}") for each in range(10)])
    await world.mirror.sync(upstream)
    # It ends in the midst of a line.
    world.registry.body = world.registry.body[:-20]
    report = await world.mirror.sync(upstream)
    assert (report.rejected, report.removed, len(world.names())) == (1, 0, 10)


@awaited
async def test_a_list_that_inflates_without_end_is_left(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.mirror._sync_run.MAX_BYTES", 100_000)
    world.registry.body = gzip.compress(b" " * 1_000_000)
    with pytest.raises(UpstreamFailed, match=r"holds more than 100,000 bytes"):
        await world.mirror.sync(world.upstream("file/list.jsonl.gz"))


@awaited
async def test_a_file_of_this_machine_is_read_when_it_was_written_to(world: World, tmp_path: Path) -> None:
    from directory_server.mirror import Upstream

    path = tmp_path / "list.jsonl"
    upstream = Upstream(NAME, str(path))
    with pytest.raises(UpstreamFailed, match=r"cannot be read: No such file or directory\."):
        await world.mirror.sync(upstream)
    path.write_bytes(lines(ABC))
    assert (await world.mirror.sync(upstream)).added == 3
    assert (await world.mirror.sync(upstream)).entries == 0
    path.write_bytes(lines([*ABC, served("x/d")]))
    os.utime(path, (1, 1))
    assert (await world.mirror.sync(upstream)).added == 1


@awaited
async def test_large_entries_are_published_a_few_at_a_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.mirror._sync_run.BATCH_BYTES", 10_000)
    monkeypatch.setattr("directory_server.sqlite._mirrors.UNSEEN_BYTES", 10_000)
    published: list[int] = []

    async def publish(source: str, entries: Sequence[Entry]) -> Sequence[Outcome]:
        published.append(len(entries))
        return await world.store.publish(source, entries)

    world.registry.entries = [served(f"x/{each}", description="It rains. " * 300) for each in range(20)]
    mirror = world.follower("first", publish)
    await mirror.sync(world.upstream())
    assert published == [4] * 5
    published.clear()
    world.registry.entries = world.registry.entries[:10]
    await mirror.sync(world.upstream(floor=0.1), full=True)
    assert published == [4, 4, 2, 4, 4, 2]
    assert len(world.names()) == 10
