"""Contract of Store."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from attrs import define

from directory_server.domain.changes import Change
from directory_server.domain.entries import OFFICIAL, Entry, mcp_id_of
from directory_server.domain.ports.storage import Store
from directory_server.domain.publishing import MAX_VERSIONS
from directory_server.serialization import restore_entry

from . import at_once, awaited

NAME = "io.example/weather"


@define
class Briefs:
    """An Analysis that records its version and its input."""

    version: str = "1"

    def __call__(self, entry: Entry) -> bytes:
        return f"{self.version} {entry.name} {entry.brief}".encode()


def entry(name: str = NAME, version: str = "1.0.0", brief: str = "It rains.", **official: Any) -> Entry:
    meta = {OFFICIAL: official} if official else {}
    return Entry({"name": name, "version": version, "description": brief}, meta)


def name_of(entry: Entry) -> str:
    return entry.name


def brief_of(entry: Entry) -> str:
    return entry.brief


def kinds(changes: Sequence[Change]) -> list[str]:
    return [change.kind for change in changes]


UNSTORABLE = ("x/\0", "\0", "x/\udc80", "\ud800\udc00")
"""Names, versions and ids that some databases cannot hold."""


class StoreContract:
    """Subclasses define how to open a store; `at_once` runs coroutines together, in the threads of the adapter."""

    at_once = staticmethod(at_once)

    async def store(self, sources: Sequence[str] = (), version: str = "1") -> Store:
        """Return a store that prefers `sources` in this order; each call acts as another process with the same data.

        Its analysis is Briefs(version).
        """
        raise NotImplementedError

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
    async def test_the_log_has_the_same_id_in_all_processes(self) -> None:
        one, other = await self.store(), await self.store()
        log = await one.log_id()
        assert re.fullmatch("[0-9a-f]{12}", log)
        await one.publish("a", [entry()])
        assert await other.log_id() == log

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
    async def test_logs_nothing_for_unchanged_entries(self) -> None:
        store = await self.store()
        await store.publish("a", [Entry({"name": NAME, "version": "1", "description": ""})])
        same = Entry({"description": "", "version": "1", "name": NAME})
        assert list(await store.publish("a", [same])) == ["unchanged"]
        assert await store.head() == 1

    @awaited
    async def test_logs_each_change_of_a_visible_entry(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(), entry("x/b")])
        await store.publish("a", [entry(brief="It snows.")])
        changes = await store.changes(0, 10)
        assert kinds(changes) == ["added", "added", "changed"]
        assert [change.mcp_id for change in changes] == [mcp_id_of(name) for name in (NAME, "x/b", NAME)]
        seqs = [change.seq for change in changes]
        assert seqs == sorted(set(seqs))
        assert await store.head() == seqs[-1]

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
    async def test_reads_the_log_after_a_position_up_to_a_limit(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(f"x/{number}") for number in range(5)])
        first, *_ = await store.changes(0, 10)
        page = await store.changes(first.seq, 2)
        assert [change.mcp_id for change in page] == [mcp_id_of("x/1"), mcp_id_of("x/2")]
        assert list(await store.changes(await store.head(), 10)) == []

    @awaited
    async def test_returns_changes_with_the_visible_entry(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(), entry("x/b")])
        await store.publish("a", [entry(brief="It snows."), entry("x/b", status="deleted")])
        visible = [change.body and restore_entry(change.body) for change in await store.changes(0, 10)]
        assert visible == [entry(brief="It snows."), None, entry(brief="It snows."), None]

    @awaited
    async def test_prefers_the_later_version_in_any_order_of_publishing(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(version="1.9.0")])
        await store.publish("a", [entry(version="1.10.0")])
        assert list(await store.publish("a", [entry(version="1.2.0")])) == ["added"]
        assert await store.entry(mcp_id_of(NAME)) == entry(version="1.10.0")
        assert kinds(await store.changes(0, 10)) == ["added", "changed"]

    @awaited
    async def test_logs_nothing_when_an_invisible_version_changes(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(version="1.0.0"), entry(version="2.0.0")])
        head = await store.head()
        assert list(await store.publish("a", [entry(version="1.0.0", brief="Old.")])) == ["changed"]
        assert await store.head() == head

    @awaited
    async def test_prefers_the_latest_version_of_the_registry(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(version="3.0.0", isLatest=False), entry(version="2.0.0", isLatest=True)])
        visible = await store.entry(mcp_id_of(NAME))
        assert visible is not None
        assert visible.version == "2.0.0"

    @awaited
    async def test_prefers_local_entries_then_sources_in_order_then_others_by_name(self) -> None:
        store = await self.store(["second", "third"])
        ranking = ["local", "second", "third", "alpha", "zeta"]
        visible = []
        for source in reversed(ranking):
            await store.publish(source, [entry(brief=source)])
            current = await store.entry(mcp_id_of(NAME))
            assert current is not None
            visible.append(current.brief)
        assert visible == list(reversed(ranking))
        for source in reversed(ranking[1:]):
            await store.publish(source, [entry(version="2.0.0", brief=source)])
        assert await store.entry(mcp_id_of(NAME)) == entry(brief="local")

    @awaited
    async def test_logs_nothing_when_another_source_has_the_same_content(self) -> None:
        store = await self.store()
        await store.publish("b", [entry()])
        assert list(await store.publish("local", [entry()])) == ["added"]
        assert await store.head() == 1
        assert list(await store.publish("b", [entry(brief="It snows.")])) == ["changed"]
        assert await store.entry(mcp_id_of(NAME)) == entry()
        assert await store.head() == 1

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
    async def test_logs_nothing_for_an_entry_first_seen_deleted(self) -> None:
        store = await self.store()
        assert list(await store.publish("a", [entry(status="deleted")])) == ["added"]
        assert await store.head() == 0
        await store.publish("a", [entry(status="active")])
        assert kinds(await store.changes(0, 10)) == ["added"]

    @awaited
    async def test_accepts_a_name_twice_in_a_batch(self) -> None:
        store = await self.store()
        batch = [entry(version="1.0.0"), entry(version="2.0.0"), entry(version="2.0.0", brief="It snows.")]
        assert list(await store.publish("a", batch)) == ["added", "added", "changed"]
        assert await store.entry(mcp_id_of(NAME)) == batch[-1]
        assert kinds(await store.changes(0, 10)) == ["added"]
        assert await store.count() == 1
        again = [
            entry(version="3.0.0"),
            entry("x/b"),
            entry(version="4.0.0"),
            entry(version="2.0.0", brief="It hails."),
        ]
        assert list(await store.publish("a", again)) == ["added", "added", "added", "changed"]
        assert await store.entry(mcp_id_of(NAME)) == again[2]
        assert kinds(await store.changes(1, 10)) == ["changed", "added"]

    @awaited
    async def test_keeps_the_latest_versions_of_a_name_and_source(self) -> None:
        store = await self.store()
        await store.publish("b", [entry(version="0.0.1")])
        await store.publish("a", [entry(version="0.0.7", isLatest=True)])
        batch = [entry(version=f"1.{number}.0") for number in range(300)]
        for _ in range(2):
            outcomes = await store.publish("a", batch)
            assert list(outcomes[:101]) == ["too_old"] * 101
            assert "too_old" not in outcomes[101:]
        versions = [each.version for each in await store.versions(NAME)]
        assert len(versions) == 200
        assert versions[0] == "0.0.7"
        assert "1.101.0" in versions
        assert await store.entry(mcp_id_of(NAME)) == entry(version="0.0.7", isLatest=True)
        # Older versions are not stored; a newer one replaces the oldest.
        assert list(await store.publish("a", [entry(version="1.5.0")])) == ["too_old"]
        assert list(await store.publish("a", [entry(version="2.0.0", isLatest=True)])) == ["added"]
        versions = [each.version for each in await store.versions(NAME)]
        assert len(versions) == 200
        assert versions[0] == "2.0.0"
        assert "0.0.7" not in versions
        assert "1.101.0" in versions
        assert [change.kind for change in await store.changes(0, 10)] == ["added", "changed", "changed"]

    @awaited
    async def test_a_version_that_must_be_new_replaces_nothing(self) -> None:
        one, other = await self.store(["up"]), await self.store(["up"])
        assert list(await one.publish("published", [entry()], new=True)) == ["added"]
        for again in (entry(), entry(brief="It snows.")):
            assert list(await other.publish("published", [again], new=True)) == ["exists"]
        assert await other.head() == 1
        batch = [entry(version="1.1.0"), entry(brief="It snows."), entry("x/a"), entry(version="1.1.0")]
        assert list(await other.publish("published", batch, new=True)) == ["added", "exists", "added", "exists"]
        assert [each.version for each in await one.published(NAME)] == ["1.0.0", "1.1.0"]
        assert [each.brief for each in await one.published(NAME)] == ["It rains.", "It rains."]
        assert await one.entry(mcp_id_of(NAME)) == entry(version="1.1.0")

    @awaited
    async def test_a_version_that_must_be_new_drops_nothing(self) -> None:
        store = await self.store()
        batch = [entry(version=f"1.0.{number}") for number in range(MAX_VERSIONS)]
        assert set(await store.publish("published", batch, new=True)) == {"added"}
        assert list(await store.publish("published", [entry(version="2.0.0")], new=True)) == ["over_limit"]
        assert list(await store.publish("published", [entry(version="1.0.7")], new=True)) == ["exists"]
        assert [each.version for each in await store.published(NAME)] == [each.version for each in batch]

    @awaited
    async def test_publishers_of_one_new_version_at_once_store_it_once(self) -> None:
        stores = [await self.store() for _ in range(4)]
        outcomes = await self.at_once(
            *(store.publish("published", [entry(brief=f"{number}")], new=True) for number, store in enumerate(stores))
        )
        assert sorted(outcome for (outcome,) in outcomes) == ["added", "exists", "exists", "exists"]
        (winner,) = await stores[0].published(NAME)
        assert [winner.brief] == [str(number) for number, (outcome,) in enumerate(outcomes) if outcome == "added"]

    @awaited
    async def test_published_entries_precede_upstreams_and_follow_local_ones(self) -> None:
        store = await self.store(["up"])
        await store.publish("up", [entry(version="9.0.0", brief="upstream", isLatest=True)])
        assert await store.source_of(NAME) == "up"
        await store.publish("published", [entry(brief="published")], new=True)
        await store.publish("up", [entry(version="9.1.0", brief="upstream", isLatest=True)])
        assert await store.source_of(NAME) == "published"
        assert await store.entry(mcp_id_of(NAME)) == entry(brief="published")
        await store.publish("local", [entry(brief="local")])
        assert await store.source_of(NAME) == "local"
        assert [each.brief for each in await store.published(NAME)] == ["published"]
        assert await store.source_of("x/unknown") is None
        assert list(await store.published("x/unknown")) == []

    @awaited
    async def test_the_latest_published_version_is_one_that_is_not_deleted(self) -> None:
        store = await self.store(["up"])
        await store.publish("up", [entry(version="9.0.0", brief="upstream", isLatest=True)])
        await store.publish("published", [entry(), entry(version="1.1.0")], new=True)
        assert list(await store.publish("published", [entry(version="1.1.0", status="deleted")])) == ["changed"]
        found = await store.entry(mcp_id_of(NAME))
        assert found is not None
        assert found.version == "1.0.0"
        await store.publish("published", [entry(status="deleted")])
        # An upstream does not take the name over.
        assert await store.entry(mcp_id_of(NAME)) is None
        assert await store.source_of(NAME) == "published"

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
    async def test_stops_reading_at_a_number_of_bytes(self) -> None:
        store = await self.store()
        entries = [entry(f"x/{number}", brief="x" * 1_000) for number in range(5)]
        await store.publish("a", entries)
        (size,) = {len(change.body or b"") + len(change.analysed or b"") for change in await store.changes(0, 5)}
        for most, count in ((1, 1), (size, 1), (size + 1, 2), (3 * size, 3), (9 * size, 5)):
            changes = await store.changes(0, 9, most)
            assert [change.seq for change in changes] == [1, 2, 3, 4, 5][:count]
            assert len(await store.changes(0, 2, most)) == min(count, 2)
            pages: list[Change] = []
            while page := await store.current(pages[-1].mcp_id if pages else "", 9, most):
                assert len(page) <= count
                pages += page
            assert [change.mcp_id for change in pages] == sorted(each.mcp_id for each in entries)

    @awaited
    async def test_returns_the_oldest_change_of_the_log(self) -> None:
        store = await self.store()
        await store.publish("a", [entry("x/a"), entry("x/b")])
        first, *_ = await store.changes(0, 10)
        assert await store.oldest() == first.seq

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
    async def test_is_one_store_for_all_processes(self) -> None:
        one, other = await self.store(), await self.store()
        await one.publish("a", [entry("x/a")])
        await other.publish("a", [entry("x/b")])
        for store in (one, other):
            assert await store.count() == 2
            assert [change.mcp_id for change in await store.changes(0, 9)] == [mcp_id_of("x/a"), mcp_id_of("x/b")]

    @awaited
    async def test_publishers_at_once_log_each_change_once_and_without_gaps(self) -> None:
        async def publish(number: int) -> None:
            store = await self.store()
            for batch in range(6):
                own = [entry(f"x/{number}-{batch}-{each}") for each in range(5)]
                shared = [entry("x/shared", version=f"{batch}.{number}.0"), entry(f"x/{batch}", brief=str(number))]
                await store.publish(f"source-{number}", own + shared)

        await self.at_once(*(publish(number) for number in range(4)))
        store = await self.store()
        changes = await store.changes(0, 1_000)
        assert [change.seq for change in changes] == list(range(1, await store.head() + 1))
        own_names = {f"x/{number}-{batch}-{each}" for number in range(4) for batch in range(6) for each in range(5)}
        visible = {mcp_id_of(name) for name in own_names | {"x/shared"} | {f"x/{batch}" for batch in range(6)}}
        assert {change.mcp_id for change in await store.current("", 1_000)} == visible
        assert sorted(change.mcp_id for change in changes if change.kind == "added") == sorted(visible)
        assert await store.count() == len(visible)
        # Among sources of no order, the first by name is preferred.
        assert [each.brief for each in await store.entries([mcp_id_of("x/3")])] == ["0"]
        assert [each.version for each in await store.versions("x/shared")] == [f"{n}.0.0" for n in (5, 4, 3, 2, 1, 0)]

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
            assert await store.source_of(text) is None
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


class LongLogContract:
    """Contract of a Store that has had many changes. Subclasses define how to open a store, and to lengthen its log."""

    async def store(self) -> Store:
        raise NotImplementedError

    async def lengthen(self, seq: int) -> None:
        """Add a change with this `seq`, of an entry that does not exist, to the log of the same data."""
        raise NotImplementedError

    @awaited
    async def test_counts_changes_beyond_32_bits(self) -> None:
        seq = 2**32 + 5
        store = await self.store()
        await self.lengthen(seq)
        await store.publish("a", [entry(), entry("x/b")])
        await store.publish("a", [entry("x/b", brief="It snows.")])
        assert await store.head() == seq + 3
        assert [change.seq for change in await store.changes(seq, 10)] == [seq + 1, seq + 2, seq + 3]
        assert [change.seq for change in await store.changes(seq + 2, 10)] == [seq + 3]
        assert sorted(change.seq for change in await store.current("", 10)) == [seq + 1, seq + 3]
        assert list(await store.newest(9, name_of)) == ["x/b", NAME]
