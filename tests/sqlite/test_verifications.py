"""SQLite adapter of Verifications."""

from __future__ import annotations

from directory_server.run_sync import inline
from directory_server.sqlite import SqliteStore, SqliteVerifications

from ..contract.store import Briefs
from ..contract.verifications import VerificationsContract
from .conftest import SqliteAdapterTest


class TestSqliteVerifications(SqliteAdapterTest, VerificationsContract):
    async def verifications(self) -> SqliteVerifications:
        return SqliteVerifications(self.open_database("directory"), self.clock.seconds, inline)

    async def store(self) -> SqliteStore:
        return SqliteStore(self.open_database("directory"), inline, Briefs())
