"""The PostgreSQL adapter of Roster."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.postgres import PostgresAccounts, PostgresKeyRing, PostgresRoster

from ..contract.roster import RosterContract
from .conftest import PostgresAdapterTest


class TestPostgresRoster(PostgresAdapterTest, RosterContract):
    async def roster(self, now: Callable[[], float]) -> tuple[PostgresRoster, PostgresAccounts, PostgresKeyRing]:
        database = self.open_database()
        return PostgresRoster(database), PostgresAccounts(database, now), PostgresKeyRing(database, now)
