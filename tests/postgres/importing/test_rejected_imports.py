"""Imports of a data directory that are rejected, or that replace texts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from directory_server.domain.errors import BadInput
from directory_server.domain.transfers import ExportedTable
from directory_server.postgres import (
    Database,
    PostgresTables,
    import_data,
    postgres_store,
)
from directory_server.postgres import _import as importing
from directory_server.postgres._connection import Cursor
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.sqlite import (
    export,
)
from directory_server.tables import StoredCuration

from ...contract.store import NAME, Briefs
from ..test_equal_stores import SOURCES
from .conftest import counts, imported


def test_a_database_that_is_not_empty_is_refused(folder: Path, database: Database) -> None:
    run_sync(StoredCuration(PostgresTables(database)).mark("x/y", "hidden", True))
    before = counts(database)
    with pytest.raises(BadInput, match="not empty: its table entry has rows"):
        imported(folder, database)
    assert counts(database) == before


def test_a_text_that_the_database_cannot_hold_is_named(folder: Path, database: Database) -> None:
    before = counts(database)
    change(folder, "UPDATE record SET source = 'a' || char(0) WHERE id = 3")
    with pytest.raises(BadInput, match=r"record: the source of \(3,\) has a NUL"):
        imported(folder, database)
    assert counts(database) == before


def change(folder: Path, *statements: str) -> None:
    """Change the directory database as no release does now."""
    with closing(sqlite3.connect(folder / "directory.db")) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_a_nul_in_a_text_of_an_upstream_is_replaced_and_named(folder: Path, database: Database) -> None:
    change(
        folder,
        "UPDATE record SET version = '1.0' || char(0) || 'x' WHERE id = 3",
        "UPDATE upstream SET progress_cursor = char(0) WHERE name = 'first'",
    )
    with export(folder) as source:
        done = run_sync(import_data(source, database))
    [(name, version, body)] = run_sync(database.run("SELECT name, version, body FROM record WHERE id = 3"))
    assert version == "1.0\ufffdx"
    assert done.replaced == [
        f"record {name!r}: the version '1.0\\x00x' is stored as '1.0\ufffdx'",
        "upstream 'first': the progress_cursor '\\x00' is stored as '\ufffd'",
    ]
    store = postgres_store(database, inline, Briefs(), SOURCES)
    # The document is as it was published.
    found = run_sync(store.version(name, version))
    assert found is not None
    assert found.body == body
    assert version in [each.version for each in run_sync(store.versions(name))]
    assert run_sync(store.version(name, "1.0\0x")) is None


def test_versions_that_are_the_same_without_nul_are_named(folder: Path, database: Database) -> None:
    before = counts(database)
    of_one_name = f"FROM record WHERE name = '{NAME}' AND source = 'first'"
    change(
        folder,
        f"UPDATE record SET version = '1.0' || char(0) WHERE id = (SELECT min(id) {of_one_name})",
        f"UPDATE record SET version = '1.0' || char(0xfffd) WHERE id = (SELECT max(id) {of_one_name})",
    )
    with pytest.raises(BadInput, match=r"record: two rows are the same after NUL was replaced: Key .* already exists"):
        imported(folder, database)
    assert counts(database) == before


def test_a_difference_after_writing_imports_nothing(
    folder: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = counts(database)
    copy = importing._copy

    def copy_wrongly(cursor: Cursor, table: ExportedTable, replaced: list[str]) -> int:
        copied = copy(cursor, table, replaced)
        if table.name == "secret":
            cursor.execute("UPDATE secret SET last_four = 'zzzz'")
        return copied

    monkeypatch.setattr(importing, "_copy", copy_wrongly)
    with pytest.raises(BadInput, match="Nothing was imported: row 1 of the table secret is not as it was written"):
        imported(folder, database)
    assert counts(database) == before


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not a data directory"), export(tmp_path / "none"):
        pass
    assert not (tmp_path / "none").exists()
