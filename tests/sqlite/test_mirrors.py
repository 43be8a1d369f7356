"""SQLite adapter of Mirrors."""

from __future__ import annotations

from directory_server.domain.upstreams import SyncProgress, UpstreamState
from directory_server.run_sync import inline, run_sync
from directory_server.sqlite import Database, SqliteMirrors, SqliteStore

from ..contract.mirrors import MirrorsContract
from ..contract.store import Briefs
from .conftest import SqliteAdapterTest


class TestSqliteMirrors(SqliteAdapterTest, MirrorsContract):
    async def mirrors(self) -> SqliteMirrors:
        return SqliteMirrors(self.open_database("directory"), self.clock.seconds, inline)

    async def store(self) -> SqliteStore:
        return SqliteStore(self.open_database("directory"), inline, Briefs())


def test_reads_the_state_that_version_0_1_stored(directory_database: Database) -> None:
    with directory_database.transaction() as connection:
        connection.execute(
            "INSERT INTO upstream (name, question, last_round, last_success, next_round, error, failures, entries, "
            "mark, etag, modified, walked, walked_at, walk_full, walk_began, walk_cursor) "
            "VALUES ('a', 'q', 1, 2, 3, 'No.', 4, 5, 6, '7', '8', 9, 10, 1, 11, '12')"
        )
    assert run_sync(SqliteMirrors(directory_database, lambda: 0.0, inline).get("a")) == UpstreamState(
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
