from __future__ import annotations

import pytest

from directory_server.domain.upstreams import SyncProgress, UpstreamState
from directory_server.run_sync import inline, run_sync
from directory_server.sqlite import SqliteMirrors, SqliteStore

from ..contract.mirrors import MirrorsContract
from ..contract.store import Briefs
from .conftest import Open


class TestSqliteMirrors(MirrorsContract):
    @pytest.fixture(autouse=True)
    def _databases(self, open_database: Open) -> None:
        self._open = open_database

    async def mirrors(self) -> SqliteMirrors:
        return SqliteMirrors(self._open("directory"), inline)

    async def store(self) -> SqliteStore:
        return SqliteStore(self._open("directory"), inline, Briefs())


def test_reads_the_state_that_version_0_1_stored(open_database: Open) -> None:
    database = open_database("directory")
    with database.transaction() as connection:
        connection.execute(
            "INSERT INTO upstream (name, question, last_round, last_success, next_round, error, failures, entries, "
            "mark, etag, modified, walked, walked_at, walk_full, walk_began, walk_cursor) "
            "VALUES ('a', 'q', 1, 2, 3, 'No.', 4, 5, 6, '7', '8', 9, 10, 1, 11, '12')"
        )
    assert run_sync(SqliteMirrors(database, inline).get("a")) == UpstreamState(
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
