"""Sync runs: full and incremental runs, removals, selected names and batches."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from attrs import evolve

from directory_server.domain.changes import Outcome
from directory_server.domain.entries import OFFICIAL, Entry
from directory_server.domain.upstreams import FinishedRun
from directory_server.mirror import UpstreamFailed
from directory_server.mirror._sync_run import FULL_INTERVAL
from directory_server.serialization import restore_entry

from ..contract import awaited
from .conftest import NAME, Harness
from .registry import ABC, NOW, numbered_entries, registry_entry


@awaited
async def test_the_first_sync_is_full(harness: Harness) -> None:
    harness.registry.entries = ABC
    report = await harness.mirror.sync(harness.upstream())
    assert harness.names() == ["x/a", "x/b", "x/c"]
    assert (report.full, report.pages, report.entries, report.added) == (True, 2, 3, 3)
    assert harness.registry.requests == [
        {"include_deleted": "true", "limit": "100"},
        {"include_deleted": "true", "limit": "100", "cursor": "2"},
    ]
    state = harness.state()
    assert (state.entries, state.full_sync_names, state.last_success, state.error) == (3, 3, NOW, "")
    assert NOW + 3600 <= state.next_run <= NOW + 3960
    stored = (await harness.store.listing(("", ""), 1))[0]
    assert restore_entry(stored.body) == Entry(ABC[0]["server"], ABC[0]["_meta"])


@awaited
async def test_each_run_is_in_the_history_of_the_upstream(harness: Harness) -> None:
    harness.registry.entries = ABC
    await harness.mirror.sync(harness.upstream())
    harness.clock.advance(3600)
    await harness.mirror.sync(harness.upstream())
    harness.clock.advance(3600)
    with pytest.raises(UpstreamFailed):
        await harness.mirror.sync(harness.upstream("not-found"))
    failed, incremental, full = await harness.mirrors.runs("official")
    assert evolve(full, note="") == FinishedRun(NOW, NOW, True, entries=3, added=3)
    assert (incremental.started_at, incremental.full) == (NOW + 3600, False)
    assert (incremental.added, incremental.error) == (0, "")
    assert (failed.started_at, failed.entries, failed.error) == (NOW + 7200, 0, "It answered 404.")


@awaited
async def test_requests_have_the_configured_headers(harness: Harness) -> None:
    harness.environ["TOKEN"] = "s3cret"
    await harness.mirror.sync(harness.upstream(headers=("Authorization: env:TOKEN",)))
    (headers,) = harness.registry.headers
    assert headers["user-agent"].startswith("directory-server/")
    assert headers["authorization"] == "s3cret"
    assert headers["accept-encoding"] == "gzip"


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("A: env:NONE", "Its header A is in the variable NONE of the environment, which is not set."),
        ("A: file:/none", "Its header A is in the file /none, which cannot be read: No such file or directory."),
        ("A: env:EMPTY", "Its header A is in EMPTY, which holds no line of printable ASCII."),
    ],
)
@awaited
async def test_a_missing_or_invalid_header_fails(harness: Harness, header: str, message: str) -> None:
    harness.environ["EMPTY"] = ""
    with pytest.raises(UpstreamFailed) as caught:
        await harness.mirror.sync(harness.upstream(headers=(header,)))
    assert caught.value.message == harness.state().error == message
    assert harness.registry.requests == []


@awaited
async def test_a_later_sync_is_incremental(harness: Harness) -> None:
    harness.registry.entries = ABC
    await harness.mirror.sync(harness.upstream())
    harness.registry.requests.clear()
    harness.registry.changed = [
        registry_entry("x/b", description="It snows."),
        registry_entry("x/c", status="deleted"),
        registry_entry("x/d"),
    ]
    report = await harness.mirror.sync(harness.upstream())
    # Ten minutes before the registry's time at the start of the previous sync run.
    assert harness.registry.requests[0]["updated_since"] == "2027-01-15T07:50:00Z"
    assert harness.registry.requests[0]["include_deleted"] == "true"
    assert (report.full, report.added, report.changed) == (False, 1, 2)
    assert harness.names() == ["x/a", "x/b", "x/d"]
    assert harness.brief("x/b") == "It snows."
    assert [change.kind for change in await harness.store.changes(3, 9)] == ["changed", "removed", "added"]
    tombstone = await harness.store.version("x/c", "latest")
    assert tombstone is not None
    assert tombstone.deleted


@awaited
async def test_an_unchanged_upstream_gets_conditional_requests(harness: Harness) -> None:
    harness.registry.entries, harness.registry.etags = ABC, True
    for _ in range(3):
        await harness.mirror.sync(harness.upstream())
    *_, second, third = harness.registry.requests
    assert second == third
    assert "if-none-match" not in harness.registry.headers[-2]
    assert "if-none-match" in harness.registry.headers[-1]
    assert harness.names() == ["x/a", "x/b", "x/c"]
    assert harness.state().last_success == NOW


@awaited
async def test_a_full_sync_removes_missing_entries(harness: Harness) -> None:
    harness.registry.entries = numbered_entries(20)
    await harness.mirror.sync(harness.upstream())
    harness.registry.entries = numbered_entries(18)
    report = await harness.mirror.sync(harness.upstream(), full=True)
    assert (report.removed, harness.state().entries, harness.state().full_sync_names) == (2, 18, 18)
    assert "x/00019" not in harness.names()
    (removed,) = await harness.store.versions("x/00019")
    assert removed.deleted
    assert restore_entry(removed.body).meta[OFFICIAL]["status"] == "deleted"
    harness.registry.entries = numbered_entries(20)
    await harness.mirror.sync(harness.upstream(), full=True)
    assert len(harness.names()) == 20


@awaited
async def test_a_full_sync_is_repeated(harness: Harness) -> None:
    harness.registry.entries = ABC
    await harness.mirror.sync(harness.upstream())
    harness.clock.advance(FULL_INTERVAL)
    assert (await harness.mirror.sync(harness.upstream())).full


@awaited
async def test_too_many_missing_entries_are_an_error(harness: Harness) -> None:
    harness.registry.entries = numbered_entries(20)
    await harness.mirror.sync(harness.upstream())
    harness.registry.entries = [registry_entry("x/00000", description="It snows."), *numbered_entries(17)[1:16]]
    with pytest.raises(UpstreamFailed) as caught:
        await harness.mirror.sync(harness.upstream(), full=True)
    assert caught.value.message == (
        "It has 16 entries where it had 20, fewer than 85%: nothing was removed. "
        "If that is right, lower the floor of the upstream official."
    )
    assert len(harness.names()) == 20
    assert harness.brief("x/00000") == "It snows."
    assert harness.state().full_sync_names == 20
    await harness.mirror.sync(harness.upstream(floor=0.5), full=True)
    assert len(harness.names()) == 16


@awaited
async def test_only_selected_names_are_published(harness: Harness) -> None:
    harness.registry.entries = [
        registry_entry("a/one"),
        registry_entry("b/two"),
        registry_entry("b/three"),
        registry_entry("c/four"),
    ]
    await harness.mirror.sync(harness.upstream(include=("a/*", "b/*"), exclude=("*/three",)))
    assert harness.names() == ["a/one", "b/two"]
    assert harness.state().full_sync_names == 4
    # A changed selection needs a full sync, which removes names that are no longer selected.
    await harness.mirror.sync(harness.upstream(include=("b/*",)))
    assert harness.names() == ["b/three", "b/two"]


@awaited
async def test_entries_of_other_sources_are_kept(harness: Harness) -> None:
    await harness.store.publish("other", [Entry(registry_entry("x/other")["server"])])
    await harness.store.publish("local", [Entry({**registry_entry("x/a")["server"], "description": "Local."})])
    harness.registry.entries = ABC
    await harness.mirror.sync(harness.upstream())
    harness.registry.entries = ABC[1:]
    await harness.mirror.sync(harness.upstream(floor=0.1), full=True)
    assert harness.names() == ["x/a", "x/b", "x/c", "x/other"]
    assert harness.brief("x/a") == "Local."


@awaited
async def test_a_bad_value_in_one_entry_stops_no_run(harness: Harness) -> None:
    harness.registry.entries, harness.registry.page_size = ABC, 5
    await harness.mirror.sync(harness.upstream())
    # Python writes NaN, which is not JSON.
    harness.registry.entries = [
        registry_entry("x/a", description="It snows."),
        {**registry_entry("x/b"), "more": float("nan")},
        *[{**registry_entry(f"x/bad-{number}"), "more": float("inf")} for number in range(150)],
        registry_entry("x/c"),
    ]
    harness.registry.page_size = 60
    report = await harness.mirror.sync(harness.upstream(), full=True)
    assert (report.rejected, report.changed, len(report.reasons)) == (151, 1, 100)
    assert report.reasons[0].startswith("x/b: The entry is not JSON: ")
    # The stored version of a bad entry stays.
    assert harness.names() == ["x/a", "x/b", "x/c"]
    assert harness.brief("x/a") == "It snows."


@awaited
async def test_progress_is_reported(harness: Harness) -> None:
    harness.registry.entries = ABC
    progress: list[tuple[int, int, int]] = []
    for _ in range(2):
        await harness.mirror.sync(
            harness.upstream(),
            full=True,
            on_progress=lambda each: progress.append((each.pages, each.entries, each.expected)),
        )
    assert progress == [(1, 2, 0), (2, 3, 0), (1, 2, 3), (2, 3, 3)]


@awaited
async def test_batches_are_limited_in_bytes(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.mirror._sync_run.BATCH_BYTES", 10_000)
    monkeypatch.setattr("directory_server.tables._mirrors.UNSEEN_BYTES", 10_000)
    published: list[int] = []

    async def publish(source: str, entries: Sequence[Entry]) -> Sequence[Outcome]:
        published.append(len(entries))
        return await harness.store.publish(source, entries)

    harness.registry.entries = [registry_entry(f"x/{each}", description="It rains. " * 300) for each in range(20)]
    mirror = harness.other_mirror("first", publish)
    await mirror.sync(harness.upstream())
    assert published == [4] * 5
    published.clear()
    harness.registry.entries = harness.registry.entries[:10]
    await mirror.sync(harness.upstream(floor=0.1), full=True)
    assert published == [4, 4, 2, 4, 4, 2]
    assert len(harness.names()) == 10


@awaited
@pytest.mark.parametrize(
    ("seconds", "note"),
    [
        (60, ""),
        (90, "Our clock is 90 seconds ahead of that of the upstream."),
        (-90, "Our clock is 90 seconds behind that of the upstream."),
    ],
)
async def test_a_run_notes_a_wrong_clock(harness: Harness, seconds: int, note: str) -> None:
    harness.clock.rightNow += seconds
    await harness.mirror.sync(harness.upstream())
    (run,) = await harness.mirrors.runs(NAME)
    assert run.note == note
