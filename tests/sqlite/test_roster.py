"""The SQLite adapter of Roster."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.sqlite import SqliteKeyRing, SqliteRoster, SqliteTables
from directory_server.tables import StoredAccounts

from ..contract.roster import RosterContract
from .conftest import SqliteAdapterTest


class TestSqliteRoster(SqliteAdapterTest, RosterContract):
    async def roster(self, now: Callable[[], float]) -> tuple[SqliteRoster, StoredAccounts, SqliteKeyRing]:
        database = self.open_database("directory")
        return SqliteRoster(database), StoredAccounts(SqliteTables(database), now), SqliteKeyRing(database, now)
