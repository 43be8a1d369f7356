"""Publishing on PostgreSQL: transactions, notifications, and analyses."""

from __future__ import annotations

import psycopg
import pytest
from attrs import evolve

from directory_server.domain.entries import mcp_id_of
from directory_server.domain.errors import Unavailable
from directory_server.postgres import (
    Database,
    Node,
    PostgresTables,
    postgres_store,
    prune_analyses,
    report_node,
)
from directory_server.postgres._store import ENGINE
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.tables import StoredCuration
from directory_server.tables._entries import rows_of_entries
from directory_server.tables._publishing import Row, batches

from ..contract.store import NAME, Briefs, CountingBriefs, entry
from ..engines import Engine
from ..process.conftest import until


def counts(database: Database) -> list[int]:
    """Return the number of rows of the tables that publishing writes."""
    tables = ("record", "entry", "change", "analysed", "stored")
    query = " UNION ALL ".join(f"(SELECT count(*) FROM {table})" for table in tables)
    return [count for (count,) in run_sync(database.read(lambda cursor: cursor.all(query)))]


def analysed(database: Database) -> list[tuple[str, bytes]]:
    query = "SELECT version, body FROM analysed ORDER BY version, body"
    return run_sync(database.read(lambda cursor: cursor.all(query)))


def test_a_batch_that_fails_leaves_nothing(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    store = postgres_store(database, inline, Briefs())
    run_sync(store.publish("a", [entry("x/before")]))
    before = counts(database)
    monkeypatch.setattr("directory_server.tables._visibility._UPDATE", "SELECT 1 / 0 FROM input(mcp_id text)")
    with pytest.raises(psycopg.Error):
        run_sync(store.publish("a", [entry("x/before", brief="It snows."), entry()]))
    with pytest.raises(psycopg.Error):
        run_sync(StoredCuration(PostgresTables(database)).mark("x/before", "hidden", True))
    monkeypatch.undo()
    assert counts(database) == before
    assert run_sync(store.entry(mcp_id_of("x/before"))) == entry("x/before")
    assert run_sync(store.publish("a", [entry()])) == ["added"]
    assert run_sync(store.head()) == 2


def test_a_publisher_that_waits_too_long_is_unavailable(engine: Engine, database: Database) -> None:
    store = postgres_store(database, inline, Briefs())
    run_sync(database.write(lambda cursor: cursor.execute("SET lock_timeout = '50ms'")))
    with psycopg.connect(engine.conninfo) as other:
        other.execute("SELECT pg_advisory_xact_lock(0, 1)")
        with pytest.raises(Unavailable, match="another process has held a lock for too long"):
            run_sync(store.publish("a", [entry()]))
        assert run_sync(store.count()) == 0
    assert run_sync(store.publish("a", [entry()])) == ["added"]


def test_unchanged_entries_are_neither_locked_nor_written(engine: Engine, database: Database) -> None:
    store = postgres_store(database, inline, Briefs())
    batch = [entry(), entry("x/b")]
    run_sync(store.publish("a", batch))
    with psycopg.connect(engine.conninfo) as other:
        other.execute("SELECT pg_advisory_xact_lock(0, 1)")
        assert run_sync(store.publish("a", batch)) == ["unchanged"] * 2
        assert run_sync(StoredCuration(PostgresTables(database)).curated()) == []


def test_wakes_listeners_after_changes_only(engine: Engine, database: Database) -> None:
    store, curation = postgres_store(database, inline, Briefs()), StoredCuration(PostgresTables(database))
    with psycopg.connect(engine.conninfo, autocommit=True) as other:
        received: list[str] = []
        other.add_notify_handler(lambda notification: received.append(notification.channel))
        other.execute("LISTEN directory")
        other.execute("LISTEN marker")

        def woken() -> bool:
            """Return whether listeners were woken. Notifications come in the order of commits, the marker last."""
            other.execute("NOTIFY marker")
            until(lambda: other.execute("SELECT 1") and "marker" in received, "the marker")
            found = "directory" in received
            received.clear()
            return found

        run_sync(store.publish("a", [entry()]))
        assert woken()
        run_sync(store.publish("a", [entry()]))
        run_sync(curation.mark(NAME, "pinned", False))
        run_sync(curation.disown(NAME))
        assert not woken()
        run_sync(curation.mark(NAME, "pinned", True))
        assert woken()
        run_sync(store.publish("local", [entry()]))
        assert woken()
        run_sync(curation.disown(NAME))
        assert woken()


def row(name: str, size: int = 1) -> Row:
    (made,) = rows_of_entries("a", [entry(name)])
    return Row(name, made.record, b"x" * size)


def test_batches_are_bounded_and_keep_names_together() -> None:
    names = [f"x/{number % (ENGINE.batch + 1)}" for number in range(2 * ENGINE.batch)]
    found = list(batches([row(name) for name in names], ENGINE))
    assert sorted(number for batch in found for number in batch) == list(range(2 * ENGINE.batch))
    assert all(len(batch) <= ENGINE.batch for batch in found)
    assert sum(len({names[number] for number in batch}) for batch in found) == ENGINE.batch + 1
    assert list(batches([row("x/a")] * (ENGINE.batch + 3), ENGINE)) == [list(range(ENGINE.batch + 3))]
    large = [row(f"x/{number}", ENGINE.batch_bytes // 2) for number in range(5)]
    assert list(batches(large, ENGINE)) == [[0, 1], [2, 3], [4]]
    assert list(batches([], ENGINE)) == []


def test_a_call_of_several_batches_returns_the_outcomes_in_order(database: Database) -> None:
    store = evolve(postgres_store(database, inline, Briefs()), engine=evolve(ENGINE, batch=2))
    batch = [entry(f"x/{letter}") for letter in "abcde"]
    assert run_sync(store.publish("a", batch)) == ["added"] * 5
    again = [batch[0], entry("x/f"), batch[2], entry("x/d", brief="It snows."), entry("x/f", "2")]
    assert run_sync(store.publish("a", again)) == ["unchanged", "added", "unchanged", "changed", "added"]


def test_a_document_of_another_source_is_not_analysed_again(database: Database) -> None:
    analysis = CountingBriefs()
    store = postgres_store(database, inline, analysis)
    for source in "ab":
        run_sync(store.publish(source, [entry(), entry("x/b")]))
    assert analysis.calls == 2


def test_two_versions_of_the_analysis_are_stored_side_by_side(database: Database) -> None:
    run_sync(postgres_store(database, inline, Briefs()).publish("a", [entry(), entry("x/b")]))
    newer, older = CountingBriefs("2"), CountingBriefs("1")
    for _ in range(2):
        for analysis in (newer, older):
            found = run_sync(postgres_store(database, inline, analysis).current("", 10))
            expected = {Briefs(analysis.version)(each) for each in (entry(), entry("x/b"))}
            assert {change.analysed for change in found} == expected
    assert (newer.calls, older.calls) == (2, 0)
    assert [version for version, _ in analysed(database)] == ["1", "1", "2", "2"]


def test_prunes_the_analyses_of_replaced_documents(database: Database) -> None:
    store = postgres_store(database, inline, Briefs())
    run_sync(store.publish("a", [entry(), entry("x/b")]))
    run_sync(store.publish("b", [entry()]))
    run_sync(store.publish("a", [entry(brief="a"), entry("x/b", brief="b")]))
    assert len(analysed(database)) == 4
    run_sync(prune_analyses(database, "1"))
    # The source b still has the first document of NAME.
    expected = [entry(brief="a"), entry("x/b", brief="b"), entry()]
    assert [body for _, body in analysed(database)] == sorted(map(Briefs(), expected))


def report(database: Database, name: str, analysis: str | None) -> None:
    """Report a running process that uses this version of the analysis."""
    run_sync(report_node(database, Node(name, "1", b"", analysis)))


def test_prunes_the_analyses_of_versions_that_no_process_uses(database: Database) -> None:
    stores = {version: postgres_store(database, inline, Briefs(version)) for version in "123"}
    run_sync(stores["1"].publish("a", [entry()]))
    for store in stores.values():
        run_sync(store.current("", 10))

    def versions() -> list[str]:
        return [version for version, _ in analysed(database)]

    assert versions() == ["1", "2", "3"]
    report(database, "own", "3")
    report(database, "older", "2")
    report(database, "oldest", None)
    run_sync(prune_analyses(database, "3"))
    # The oldest process does not tell its version.
    assert versions() == ["1", "2", "3"]
    report(database, "oldest", "2")
    run_sync(prune_analyses(database, "3"))
    assert versions() == ["2", "3"]
    run_sync(database.run("DELETE FROM node WHERE id <> 'own'"))
    run_sync(prune_analyses(database, "3"))
    assert versions() == ["3"]


def statistics(database: Database) -> int:
    """Return the number of records that the planner knows of."""
    [(known,)] = run_sync(database.run("SELECT reltuples::int FROM pg_class WHERE oid = 'record'::regclass"))
    return int(known)


def test_a_first_import_updates_the_statistics_of_the_planner(database: Database) -> None:
    run_sync(database.run("ANALYZE record"))
    store = postgres_store(database, inline, Briefs())

    def publish(first: int, last: int) -> int:
        run_sync(store.publish("a", [entry(f"x/{number}") for number in range(first, last)]))
        return statistics(database)

    assert publish(0, 1_000) <= 0
    assert publish(1_000, 1_001) == 1_001
    assert publish(1_001, 2_000) == 1_001


def test_a_record_is_written_again_under_its_id(database: Database) -> None:
    store = postgres_store(database, inline, Briefs())
    rows = []
    for number in range(3):
        run_sync(store.publish("a", [entry(brief=str(number))]))
        rows += run_sync(database.read(lambda cursor: cursor.all("SELECT id, written FROM record")))
    assert len({row for row, _ in rows}) == 1
    assert [written for _, written in rows] == sorted({written for _, written in rows})
