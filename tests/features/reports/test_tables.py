"""Reports of readers on both databases."""

from __future__ import annotations

from directory_server.features.reports.tables import Reports

from ...tables.conftest import TablesTest
from .contracts import ReportsContract


class TestReports(TablesTest, ReportsContract):
    async def reports(self) -> Reports:
        return Reports(self.open_tables())
