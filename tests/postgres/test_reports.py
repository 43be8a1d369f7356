"""PostgreSQL adapter of Reports."""

from __future__ import annotations

from directory_server.postgres import PostgresReports

from ..contract.reports import ReportsContract
from .conftest import PostgresAdapterTest


class TestPostgresReports(PostgresAdapterTest, ReportsContract):
    async def reports(self) -> PostgresReports:
        return PostgresReports(self.open_database())
