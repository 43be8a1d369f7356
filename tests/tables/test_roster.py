"""StoredRoster."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.tables import StoredAccounts, StoredKeyRing, StoredRoster

from ..contract.roster import RosterContract
from .conftest import TablesTest


class TestRoster(TablesTest, RosterContract):
    async def roster(self, now: Callable[[], float]) -> tuple[StoredRoster, StoredAccounts, StoredKeyRing]:
        tables = self.open_tables()
        return StoredRoster(tables), StoredAccounts(tables, now), StoredKeyRing(tables, now)
