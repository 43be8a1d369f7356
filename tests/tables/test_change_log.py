"""The Store: the log of changes."""

from __future__ import annotations

import re

from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry, mcp_id_of
from directory_server.serialization import restore_entry

from ..contract import at_once, awaited
from ..contract.store import NAME, entry, kinds, name_of
from .conftest import WithStore

LENGTHEN = "INSERT INTO change (seq, kind, mcp_id, total) VALUES (:seq, 'added', '', 0)"
"""Adds a change of an entry that does not exist."""


class TestChangeLog(WithStore):
    """The log of changes: what is logged, in which order, and how it is read."""

    @awaited
    async def test_the_log_has_the_same_id_in_all_processes(self) -> None:
        one, other = await self.store(), await self.store()
        log = await one.log_id()
        assert re.fullmatch("[0-9a-f]{12}", log)
        await one.publish("a", [entry()])
        assert await other.log_id() == log

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
    async def test_says_what_has_changed(self) -> None:
        store, curation = await self.store(["a"]), await self.curation(["a"])
        deprecated = entry(version="1.0.0", status="deprecated")
        await store.publish("a", [entry()])
        await store.publish("a", [entry(brief="It snows.")])
        await store.publish("a", [deprecated])
        await store.publish("a", [entry(version="1.1.0", brief="It hails.", status="deprecated")])
        await store.publish("a", [entry(version="1.2.0")])
        await curation.mark(NAME, "pinned", True)
        # The operator's own entry takes the place of a deprecated one, and is deleted again.
        await store.publish("a", [entry(version="1.3.0", status="deprecated")])
        await store.publish("local", [entry()])
        await curation.disown(NAME)
        await curation.mark(NAME, "hidden", True)
        changes = await store.changes(0, 20)
        assert [(change.kind, change.cause) for change in changes] == [
            ("added", ""),
            ("changed", "document"),
            ("changed", "status"),
            ("changed", "document"),
            ("changed", "document"),
            ("changed", "judgement"),
            ("changed", "status"),
            ("changed", "document"),
            ("changed", "status"),
            ("removed", ""),
        ]
        # Also of an entry that is not visible any more.
        assert {change.name for change in changes} == {NAME}

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
    async def test_logs_nothing_for_an_entry_first_seen_deleted(self) -> None:
        store = await self.store()
        assert list(await store.publish("a", [entry(status="deleted")])) == ["added"]
        assert await store.head() == 0
        await store.publish("a", [entry(status="active")])
        assert kinds(await store.changes(0, 10)) == ["added"]

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
    async def test_publishers_at_once_log_each_change_once_and_without_gaps(self) -> None:
        async def publish(number: int) -> None:
            store = await self.store()
            for batch in range(6):
                own = [entry(f"x/{number}-{batch}-{each}") for each in range(5)]
                shared = [entry("x/shared", version=f"{batch}.{number}.0"), entry(f"x/{batch}", brief=str(number))]
                await store.publish(f"source-{number}", own + shared)

        await at_once(*(publish(number) for number in range(4)))
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


class TestLongLog(WithStore):
    @awaited
    async def test_counts_changes_beyond_32_bits(self) -> None:
        seq = 2**32 + 5
        store = await self.store()
        await self.open_tables().run(LENGTHEN, seq=seq)
        await store.publish("a", [entry(), entry("x/b")])
        await store.publish("a", [entry("x/b", brief="It snows.")])
        assert await store.head() == seq + 3
        assert [change.seq for change in await store.changes(seq, 10)] == [seq + 1, seq + 2, seq + 3]
        assert [change.seq for change in await store.changes(seq + 2, 10)] == [seq + 3]
        assert sorted(change.seq for change in await store.current("", 10)) == [seq + 1, seq + 3]
        assert list(await store.newest(9, name_of)) == ["x/b", NAME]
