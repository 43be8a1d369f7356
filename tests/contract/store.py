"""Contract of Store: entries, their analyses, and lists of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import define

from directory_server.domain.changes import Change
from directory_server.domain.entries import OFFICIAL, Entry, mcp_id_of
from directory_server.domain.ports.storage import Store

from . import at_once, awaited

NAME = "io.example/weather"


@define
class Briefs:
    """An Analysis that records its version and its input."""

    version: str = "1"

    def __call__(self, entry: Entry) -> bytes:
        return f"{self.version} {entry.name} {entry.brief}".encode()


@define
class CountingBriefs(Briefs):
    """An Analysis that counts its calls."""

    calls: int = 0

    def __call__(self, entry: Entry) -> bytes:
        self.calls += 1
        return super().__call__(entry)


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


class WithStore:
    """Subclasses define how to open a store; `at_once` runs coroutines together, in the threads of the adapter."""

    at_once = staticmethod(at_once)

    async def store(self, sources: Sequence[str] = (), version: str = "1") -> Store:
        """Return a store that prefers `sources` in this order; each call acts as another process with the same data.

        Its analysis is Briefs(version).
        """
        raise NotImplementedError


class StoreContract(WithStore):
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
            assert await store.preferred(text) is None
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
