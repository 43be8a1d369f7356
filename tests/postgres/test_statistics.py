"""The PostgreSQL adapter of Statistics."""

from __future__ import annotations

from directory_server.postgres import PostgresStatistics

from ..contract.statistics import StatisticsContract
from .conftest import PostgresAdapterTest


class TestPostgresStatistics(PostgresAdapterTest, StatisticsContract):
    async def statistics(self) -> PostgresStatistics:
        return PostgresStatistics(self.open_database())
