"""The Store and the StoredCuration on both databases."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry, mcp_id_of
from directory_server.domain.errors import Unavailable
from directory_server.domain.publishing import MAX_VERSIONS
from directory_server.domain.visibility import transition
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import Tables

from ..contract import awaited
from ..contract.store import NAME, Briefs, CountingBriefs, brief_of, entry, kinds, name_of
from ..logs import captured_lines
from .conftest import WithStore, open_store, rows_of
from .test_imports import TOTALS

UNSTORABLE = ("x/\0", "\0", "x/\udc80", "\ud800\udc00")
"""Names, versions and ids that some databases cannot hold."""


class TestStore(WithStore):
    """Entries, their analyses, and lists of them."""

    @awaited
    async def test_is_empty_at_first(self) -> None:
        store = await self.store()
        assert await store.head() == 0
        assert await store.oldest() == 0
        assert await store.count() == 0
        assert list(await store.newest(10, Entry.hit)) == []
        assert await store.entry(mcp_id_of(NAME)) is None
        assert list(await store.current("", 10)) == []
        assert list(await store.changes(0, 10)) == []

    @awaited
    async def test_lists_the_ids_of_visible_entries_in_a_range(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(f"x/{number}") for number in range(5)])
        await store.publish("a", [entry("x/3", status="deleted")])
        expected = sorted(mcp_id_of(f"x/{number}") for number in (0, 1, 2, 4))
        assert list(await store.ids("", "g", 10)) == expected
        assert list(await store.ids("", "g", 3)) == expected[:3]
        assert list(await store.ids(expected[0], expected[3], 10)) == expected[1:3]
        assert list(await store.ids("g", "", 10)) == []

    @awaited
    async def test_returns_the_outcomes_in_order(self) -> None:
        store = await self.store()
        assert list(await store.publish("a", [entry("x/a"), entry("x/b")])) == ["added", "added"]
        outcomes = await store.publish("a", [entry("x/c"), entry("x/b"), entry("x/a", brief="It snows.")])
        assert list(outcomes) == ["added", "unchanged", "changed"]
        assert list(await store.publish("a", [])) == []

    @awaited
    async def test_returns_published_entries(self) -> None:
        store = await self.store()
        full = Entry({"name": NAME, "version": "1", "description": "雨", "odd": [None, 1.5, {"x": True}]}, {"y": {}})
        await store.publish("a", [full])
        assert await store.entry(full.mcp_id) == full

    @awaited
    async def test_returns_the_visible_entries_of_ids_in_that_order(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(f"x/{letter}") for letter in "abc"])
        await store.publish("a", [entry("x/b", status="deleted")])
        ids = [mcp_id_of(f"x/{letter}") for letter in "cbnoa"]
        assert list(await store.entries(ids)) == [entry("x/c"), entry("x/a")]
        assert list(await store.entries([])) == []

    @awaited
    async def test_returns_the_analysis_of_each_entry(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(), entry("x/b", brief="b")])
        await store.publish("a", [entry(brief="It snows.")])
        expected = {mcp_id_of(NAME): f"1 {NAME} It snows.".encode(), mcp_id_of("x/b"): b"1 x/b b"}
        assert {change.mcp_id: change.analysed for change in await store.current("", 10)} == expected
        assert [change.analysed for change in await store.changes(1, 10)] == [b"1 x/b b", expected[mcp_id_of(NAME)]]
        await store.publish("a", [entry(status="deleted")])
        (removal,) = await store.changes(3, 10)
        assert (removal.body, removal.analysed) == (None, None)

    @awaited
    async def test_analyses_again_after_a_new_version_of_the_analysis(self) -> None:
        await (await self.store()).publish("a", [entry(), entry("x/b")])
        newer = await self.store(version="2")
        for changes in (await newer.current("", 10), await newer.changes(0, 10), await newer.current("", 10)):
            assert all(change.analysed and change.analysed.startswith(b"2 ") for change in changes)
        (again,) = await (await self.store()).current("", 1)
        assert again.analysed is not None
        assert again.analysed.startswith(b"1 ")

    @awaited
    async def test_removes_deleted_entries_and_restores_them(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(status="active"), entry("x/b")])
        await store.publish("a", [entry(status="deleted")])
        assert await store.entry(mcp_id_of(NAME)) is None
        assert await store.count() == 1
        await store.publish("a", [entry(status="deleted", statusMessage="Gone.")])
        await store.publish("a", [entry(status="active")])
        assert await store.entry(mcp_id_of(NAME)) == entry(status="active")
        assert await store.count() == 2
        assert kinds(await store.changes(0, 10)) == ["added", "added", "removed", "added"]

    @awaited
    async def test_names_are_case_sensitive(self) -> None:
        store = await self.store()
        lower, upper = entry("x/weather"), entry("x/Weather")
        assert list(await store.publish("a", [lower, upper])) == ["added", "added"]
        assert await store.count() == 2
        assert await store.entry(lower.mcp_id) == lower
        assert await store.entry(upper.mcp_id) == upper

    @awaited
    async def test_pages_visible_entries_in_the_order_of_ids(self) -> None:
        store = await self.store()
        entries = [entry(f"x/{number}") for number in range(7)]
        await store.publish("a", entries)
        await store.publish("a", [entry("x/3", status="deleted"), entry("x/4", brief="It snows.")])
        pages: list[Change] = []
        after = ""
        while page := await store.current(after, 4):
            assert len(page) <= 4
            pages += page
            after = page[-1].mcp_id
        ids = [change.mcp_id for change in pages]
        assert ids == sorted(each.mcp_id for each in entries if each.name != "x/3")
        log = {change.mcp_id: change for change in await store.changes(0, 20)}
        assert pages == [log[mcp_id] for mcp_id in ids]

    @awaited
    async def test_returns_the_newest_entries(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(f"x/{number}") for number in range(5)])
        await store.publish("a", [entry("x/1", brief="It snows.")])
        assert list(await store.newest(3, name_of)) == ["x/1", "x/4", "x/3"]
        assert list(await store.newest(9, brief_of)) == ["It snows."] + ["It rains."] * 4

    @awaited
    async def test_the_newest_entries_are_those_published_last_and_not_those_stored_last(self) -> None:
        store = await self.store()
        dated = {"x/a": "1970-01-02T00:00:00Z", "x/b": "1970-01-04T00:00:00Z", "x/c": "1970-01-03T00:00:00Z"}
        await store.publish("a", [entry(name, publishedAt=date) for name, date in dated.items()])
        await store.publish("a", [entry("x/d"), entry("x/e", publishedAt="soon")])
        await store.publish("a", [entry("x/a", "0.9.0", publishedAt="1970-01-09T00:00:00Z")])
        assert list(await store.newest(9, name_of)) == ["x/b", "x/c", "x/a", "x/e", "x/d"]
        assert list(await store.newest(2, name_of)) == ["x/b", "x/c"]

    @awaited
    async def test_a_date_in_the_future_is_the_time_of_storing(self) -> None:
        store = await self.store()
        await store.publish("a", [entry("x/a", publishedAt="9999-12-31T00:00:00Z")])
        await store.publish("a", [entry("x/b", publishedAt="9000-01-01T00:00:00Z")])
        assert list(await store.newest(9, name_of)) == ["x/b", "x/a"]

    @awaited
    async def test_a_restored_entry_is_newest_and_listed_once(self) -> None:
        store = await self.store()
        await store.publish("a", [entry("x/a"), entry("x/b"), entry("x/c")])
        await store.publish("a", [entry("x/a", status="deleted"), entry("x/b", status="deleted")])
        assert list(await store.newest(9, name_of)) == ["x/c"]
        await store.publish("a", [entry("x/a", status="active")])
        assert list(await store.newest(9, name_of)) == ["x/a", "x/c"]

    @awaited
    async def test_finds_nothing_by_text_that_a_database_cannot_hold(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(), entry("x/b")])
        for text in UNSTORABLE:
            assert await store.entry(text) is None
            assert list(await store.entries([text, mcp_id_of("x/b"), text])) == [entry("x/b")]
            assert [each.name for each in await store.latest([text, mcp_id_of("x/b")])] == ["x/b"]
            assert await store.versions(text) == []
            assert await store.versions(NAME, text) == []
            assert await store.version(text, "latest") is None
            assert list(await store.published(text)) == []
            assert await store.preferred([text]) == {}
            assert await store.version(NAME, text) is None
            assert list(await store.listing(("", ""), 9, versions=text)) == []
            assert list(await store.listing((text, ""), 9)) == []
            assert list(await store.listing(("", text), 9, versions="all")) == []

    @awaited
    async def test_keeps_nul_in_documents(self) -> None:
        store = await self.store()
        odd = Entry({"name": NAME, "version": "1", "description": "a\0b", "title": "\0"}, {"\0": ["\0"]})
        assert list(await store.publish("a", [odd])) == ["added"]
        assert await store.entry(odd.mcp_id) == odd
        assert list(await store.publish("a", [odd])) == ["unchanged"]


def test_a_name_is_resolved_once_in_a_batch(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    record_counts: list[int] = []

    def count_records(before: Any, flags: Any, records: Any, sources: Any) -> Any:
        record_counts.append(len(records))
        return transition(before, flags, records, sources)

    monkeypatch.setattr("directory_server.tables._visibility.transition", count_records)
    run_sync(open_store(tables).publish("a", [entry(version=f"1.{number}.0") for number in range(3_000)]))
    assert record_counts == [MAX_VERSIONS]


def test_a_version_that_is_written_again_and_then_dropped_is_gone(tables: Tables) -> None:
    store = open_store(tables)
    names = [entry(version=f"1.{number}.0", brief="old") for number in range(MAX_VERSIONS)]
    run_sync(store.publish("a", names))
    rewritten = [entry(version="1.0.0", brief="new"), *(entry(version=f"2.{number}.0") for number in range(3))]
    run_sync(store.publish("a", rewritten))
    versions = [each.version for each in run_sync(store.versions(NAME))]
    assert len(versions) == len(set(versions)) == MAX_VERSIONS
    assert rows_of(tables, TOTALS)[0] == rows_of(tables, TOTALS)[1]


def test_analyses_an_entry_once_for_each_version_of_the_analysis(tables: Tables) -> None:
    store = open_store(tables)
    for version in ("1", "2"):
        analysis = CountingBriefs(version)
        newer = evolve(store, analysis=analysis)
        for _ in range(2):
            run_sync(newer.publish("a", [entry(), entry("x/b")]))
            run_sync(newer.current("", 10))
            run_sync(newer.changes(0, 10))
        assert analysis.calls == 2


def test_a_new_analysis_is_returned_if_it_cannot_be_stored(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    run_sync(open_store(tables).publish("a", [entry()]))

    async def unavailable(*_: object) -> None:
        raise Unavailable("The disk is full.")

    monkeypatch.setattr(type(tables), "write", unavailable)
    (change,) = run_sync(open_store(tables, version="2").current("", 10))
    assert change.analysed == Briefs("2")(entry())


def test_logs_versions_that_were_not_stored(tables: Tables) -> None:
    store = open_store(tables)
    with captured_lines() as lines:
        run_sync(store.publish("a", [entry(version=f"1.{number}.0") for number in range(MAX_VERSIONS + 3)]))
    (line,) = [line for line in lines if "versions" in line]
    assert line == (f"Source a: 3 versions not stored, {NAME} 1.0.0 first; the limit is {MAX_VERSIONS} of a name")


def test_long_logs_are_read_in_pages(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.tables._change_log.PAGE", 3)
    store = open_store(tables)
    run_sync(store.publish("a", [entry(f"x/{number}") for number in range(8)]))
    assert [change.seq for change in run_sync(store.changes(4, 1_000))] == [5, 6, 7]
    assert [change.seq for change in run_sync(store.changes(7, 1_000))] == [8]
    assert len(run_sync(store.current("", 1_000))) == 3


@pytest.mark.parametrize("versions", ["latest", "all", "1.0.0", "2.0.0"])
def test_few_new_names_are_listed_as_many(tables: Tables, versions: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(tables, ["a", "b"])
    run_sync(store.publish("a", [entry(f"x/{number:02}") for number in range(0, 40, 2)]))
    run_sync(store.publish("a", [entry(f"x/{number:02}", "2.0.0") for number in range(0, 40, 3)]))
    run_sync(store.publish("b", [entry(f"x/{number:02}", "2.0.0") for number in range(40)]))
    run_sync(tables.run("UPDATE record SET updated_at = 1000 + id * 37 % 100"))
    run_sync(tables.run("UPDATE entry SET updated_at = 1000 + preferred_id * 53 % 100"))

    def pages(since: float) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        while page := run_sync(
            store.listing(found[-1] if found else ("", ""), 3, versions=versions, updated_since=since)
        ):
            found += [(each.name, each.version) for each in page]
        return found

    expected = {}
    for since in (1000.0, 1050.0, 1090.0, 1200.0):
        with monkeypatch.context() as patched:
            patched.setattr("directory_server.tables._listing.MAX_RECENT", -1)
            expected[since] = pages(since)
        assert pages(since) == expected[since]
    assert len(expected[1000.0]) > len(expected[1050.0]) > len(expected[1090.0]) > len(expected[1200.0]) == 0
