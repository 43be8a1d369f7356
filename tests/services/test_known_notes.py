"""Notes on entries in memory: read at the start, then as changes have them."""

from __future__ import annotations

import pytest

from directory_server.domain.entries import mcp_id_of
from directory_server.domain.notes import ACCEPTED, CHECKS, LOOKALIKE, Note
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.services.known_notes import KnownNotes
from directory_server.sqlite import SqliteTables, sqlite_store
from directory_server.tables import StoredEntries, put_notes

from ..conftest import Open
from ..contract.store import Briefs, entry

COPY, ORIGINAL, MARKED = "x/copy", "x/original", "x/marked"

ID = mcp_id_of(COPY)

FLAG = Note(LOOKALIKE, "same_name", 1.0, ORIGINAL)


@pytest.fixture
def tables(open_database: Open) -> SqliteTables:
    return SqliteTables(open_database("directory"))


@pytest.fixture
def store(tables: SqliteTables) -> StoredEntries:
    """Return a store of entries with notes."""
    store = sqlite_store(tables.database, inline, Briefs())
    run_sync(store.publish("local", [entry(COPY), entry(ORIGINAL), entry(MARKED)]))
    put(tables, COPY, FLAG)
    put(tables, MARKED, Note(ACCEPTED, "a b"), Note(CHECKS, body=b"{}"))
    return store


def put(tables: SqliteTables, name: str, *notes: Note) -> None:
    run_sync(tables.write(lambda rows: put_notes(rows, (LOOKALIKE, ACCEPTED, CHECKS), {mcp_id_of(name): notes})))


def test_the_start_reads_the_notes_that_views_need(tables: SqliteTables, store: StoredEntries) -> None:
    known = KnownNotes(tables)
    run_sync(known.load())
    assert (known.of(ID), known.accepted(mcp_id_of(MARKED))) == ([FLAG], ["a", "b"])
    assert [note.kind for note in known.of(mcp_id_of(MARKED))] == [ACCEPTED]
    assert [note.name for note in known.naming(mcp_id_of(ORIGINAL))] == [COPY]
    assert (known.of(mcp_id_of(ORIGINAL)), known.naming(ID)) == ((), [])


def test_changes_replace_notes(tables: SqliteTables, store: StoredEntries) -> None:
    known, head = KnownNotes(tables), run_sync(store.head())
    run_sync(known.load())
    put(tables, COPY, Note(LOOKALIKE, "same_name", 2.0, MARKED))
    put(tables, MARKED)
    run_sync(known.apply(run_sync(store.changes(head, 10))))
    assert known.naming(mcp_id_of(ORIGINAL)) == []
    assert [note.name for note in known.naming(mcp_id_of(MARKED))] == [COPY]
    assert known.accepted(mcp_id_of(MARKED)) == []


def test_the_bytes_of_notes_end_a_page(tables: SqliteTables, store: StoredEntries) -> None:
    for name in (COPY, ORIGINAL, MARKED):
        put(tables, name, Note(CHECKS, body=b"x" * 10_000))
    assert len(run_sync(store.current("", 10, 9_000))) == 1
    assert len(run_sync(store.current("", 10, 19_000))) == 2
    assert len(run_sync(store.changes(0, 10, 1_000_000))) > 2
