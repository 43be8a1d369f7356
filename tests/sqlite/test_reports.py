"""SQLite adapter of Reports."""

from __future__ import annotations

from directory_server.sqlite import SqliteReports

from ..contract.reports import ReportsContract
from .conftest import SqliteAdapterTest


class TestSqliteReports(SqliteAdapterTest, ReportsContract):
    async def reports(self) -> SqliteReports:
        return SqliteReports(self.open_database("directory"))
