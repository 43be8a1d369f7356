"""The PostgreSQL adapter of Roster."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.postgres import PostgresKeyRing, PostgresRoster, PostgresTables
from directory_server.tables import StoredAccounts

from ..contract.roster import RosterContract
from .conftest import PostgresAdapterTest


class TestPostgresRoster(PostgresAdapterTest, RosterContract):
    async def roster(self, now: Callable[[], float]) -> tuple[PostgresRoster, StoredAccounts, PostgresKeyRing]:
        database = self.open_database()
        return PostgresRoster(database), StoredAccounts(PostgresTables(database), now), PostgresKeyRing(database, now)
