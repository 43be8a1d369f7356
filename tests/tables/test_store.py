"""The Store and the StoredCuration on both databases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve

from directory_server.domain.errors import Unavailable
from directory_server.domain.ports.storage import Store
from directory_server.domain.publishing import MAX_VERSIONS
from directory_server.domain.visibility import transition
from directory_server.run_sync import run_sync
from directory_server.sqlite import SqliteTables
from directory_server.tables import StoredCuration, Tables

from ..contract.change_log import ChangeLogContract, LongLogContract
from ..contract.imports import ImportedStepContract
from ..contract.listing import ListingContract
from ..contract.store import NAME, Briefs, CountingBriefs, StoreContract, entry
from ..contract.store_versions import StoreVersionsContract
from ..logs import captured_lines
from .conftest import TablesTest, open_store, rows_of, run_script

NAMES_NOW = (("visible_id", "shown"), ("preferred_id", "chosen"))
"""Columns of `entry` in SQLite, and their names at the step that tells imported entries apart."""

LENGTHEN = "INSERT INTO change (seq, kind, mcp_id, total) VALUES (:seq, 'added', '', 0)"

TOTALS = """
    SELECT source, names, bytes FROM stored WHERE names > 0
    UNION ALL SELECT source, count(DISTINCT name), sum(octet_length(body)) FROM record GROUP BY source
    ORDER BY source
"""


class TestStore(TablesTest, StoreContract, StoreVersionsContract, ChangeLogContract):
    async def store(self, sources: Sequence[str] = (), version: str = "1") -> Store:
        return open_store(self.open_tables(), sources, version)


class TestLongLog(TablesTest, LongLogContract):
    async def store(self) -> Store:
        return open_store(self.open_tables())

    async def lengthen(self, seq: int) -> None:
        await self.open_tables().run(LENGTHEN, seq=seq)


class TestListing(TablesTest, ListingContract):
    async def store(self, sources: Sequence[str] = ()) -> Store:
        return open_store(self.open_tables(), sources)

    async def curation(self, sources: Sequence[str] = ()) -> StoredCuration:
        return StoredCuration(self.open_tables(), sources)


class TestImports(TablesTest, ImportedStepContract):
    def package(self) -> str:
        return "sqlite/schema/directory" if isinstance(self.open_tables(), SqliteTables) else "postgres/schema"

    async def store(self, sources: Sequence[str] = ()) -> Store:
        return open_store(self.open_tables(), sources)

    async def curation(self) -> StoredCuration:
        return StoredCuration(self.open_tables(), ["up"])

    def run(self, script: str) -> None:
        tables = self.open_tables()
        names = NAMES_NOW if isinstance(tables, SqliteTables) else ()
        before = [f"ALTER TABLE entry RENAME COLUMN {name} TO {earlier};" for name, earlier in names]
        after = [f"ALTER TABLE entry RENAME COLUMN {earlier} TO {name};" for name, earlier in names]
        run_script(tables, "\n".join([*before, f"{script};", *after]))

    def totals(self) -> Sequence[tuple[str, int, int]]:
        return rows_of(self.open_tables(), TOTALS)


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
