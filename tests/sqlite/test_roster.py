"""The SQLite adapter of Roster."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.sqlite import SqliteAccounts, SqliteKeyRing, SqliteRoster

from ..contract.roster import RosterContract
from .conftest import SqliteAdapterTest


class TestSqliteRoster(SqliteAdapterTest, RosterContract):
    async def roster(self, now: Callable[[], float]) -> tuple[SqliteRoster, SqliteAccounts, SqliteKeyRing]:
        database = self.open_database("directory")
        return SqliteRoster(database), SqliteAccounts(database, now), SqliteKeyRing(database, now)
