"""SQLite adapter of Store listings and Curation."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from directory_server import serialization
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.sqlite import Database, sqlite_store

from ..conftest import Open
from ..contract.store import Briefs, entry
from ..tables.schemas import make_former_sqlite


@contextmanager
def counted_steps(database: Database) -> Iterator[list[None]]:
    """Yield a list that gets an item for every 100 instructions of SQLite."""
    steps: list[None] = []
    with database.connection() as connection:
        connection.set_progress_handler(lambda: steps.append(None), 100)
        yield steps
        connection.set_progress_handler(None, 0)


@pytest.mark.parametrize("versions", ["latest", "all", "1.0.0", "2.0.0"])
def test_rare_versions_and_new_names_are_found_without_reading_the_others(open_database: Open, versions: str) -> None:
    database = open_database("directory")
    store = sqlite_store(database, inline, Briefs())
    run_sync(store.publish("a", [entry(f"x/{number:03}") for number in range(400)]))
    with database.transaction() as connection:
        connection.execute("UPDATE record SET updated_at = 1000")
        connection.execute("UPDATE entry SET updated_at = 1000")
    run_sync(store.publish("a", [entry("x/390", "2.0.0")]))
    with counted_steps(database) as steps:
        found = run_sync(store.listing(("", ""), 10, versions=versions, updated_since=2000.0))
        assert [(each.name, each.version) for each in found] == ([("x/390", "2.0.0")] if versions != "1.0.0" else [])
        assert len(run_sync(store.listing(("", ""), 10, versions="2.0.0"))) == 1
        assert run_sync(store.listing(("", ""), 10, versions="3.0.0")) == []
    assert len(steps) < 20


def test_entries_of_the_second_schema_version_are_listed(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "directory.db")) as connection, connection:
        make_former_sqlite(connection, "directory", 2)
        for number, (name, source) in enumerate((("x/a", "local"), ("x/b", "a")), 1):
            each = entry(name, isLatest=True)
            values = (
                number,
                name,
                source,
                "1.0.0",
                1,
                0,
                serialization.fingerprint(each),
                serialization.encode_entry(each),
            )
            connection.execute(
                "INSERT INTO record (id, name, source, version, latest, deleted, fingerprint, body)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )
            connection.execute(
                "INSERT INTO change (kind, mcp_id, total, at) VALUES ('added', ?, ?, ?)",
                (each.mcp_id, number, number * 10),
            )
            connection.execute("INSERT INTO entry VALUES (?, ?, ?, ?)", (each.mcp_id, name, number, number))
    with closing(Database(tmp_path, "directory")) as database:
        store = sqlite_store(database, inline, Briefs())
        listed = run_sync(store.listing(("", ""), 9))
        assert [(each.name, each.published_at, each.updated_at, each.curated) for each in listed] == [
            ("x/a", 10.0, 10.0, True),
            ("x/b", 20.0, 20.0, False),
        ]
        assert run_sync(store.publish("a", [entry("x/b", isLatest=True)])) == ["unchanged"]
