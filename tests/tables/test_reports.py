"""Reports of readers on both databases."""

from __future__ import annotations

from directory_server.features.reports.tables import Reports

from ..contract.reports import ReportsContract
from .conftest import TablesTest


class TestReports(TablesTest, ReportsContract):
    async def reports(self) -> Reports:
        return Reports(self.open_tables())
