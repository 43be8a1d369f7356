"""StoredMirrors."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib.resources import files
from pathlib import Path

from directory_server.domain.ports.storage import Store
from directory_server.domain.upstreams import SyncProgress, UpstreamState
from directory_server.run_sync import run_sync
from directory_server.sqlite import Database, SqliteTables
from directory_server.tables import StoredMirrors

from ..contract.mirrors import MirrorsContract
from .conftest import TablesTest, open_store


class TestMirrors(TablesTest, MirrorsContract):
    async def mirrors(self) -> StoredMirrors:
        return StoredMirrors(self.open_tables(), self.clock.seconds)

    async def store(self) -> Store:
        return open_store(self.open_tables())


def test_reads_the_state_that_version_0_1_stored(tmp_path: Path) -> None:
    steps = sorted(
        files("directory_server.sqlite").joinpath("schema", "directory").iterdir(), key=lambda step: step.name
    )
    with closing(sqlite3.connect(tmp_path / "directory.db")) as connection:
        for step in steps[:3]:
            connection.executescript(step.read_text("utf-8"))
        connection.execute(
            "INSERT INTO upstream (name, question, last_round, last_success, next_round, error, failures, entries, "
            "mark, etag, modified, walked, walked_at, walk_full, walk_began, walk_cursor) "
            "VALUES ('a', 'q', 1, 2, 3, 'No.', 4, 5, 6, '7', '8', 9, 10, 1, 11, '12')"
        )
        connection.execute("PRAGMA user_version = 3")
        connection.commit()
    with closing(Database(tmp_path, "directory")) as database:
        assert run_sync(StoredMirrors(SqliteTables(database)).get("a")) == UpstreamState(
            "a",
            selection="q",
            last_run=1.0,
            last_success=2.0,
            next_run=3.0,
            error="No.",
            failures=4,
            entries=5,
            updated_since=6.0,
            etag="7",
            modified="8",
            full_sync_names=9,
            full_sync_at=10.0,
            progress=SyncProgress(True, 11.0, "12"),
        )
