"""PostgreSQL adapter of Store."""

from __future__ import annotations

from collections.abc import Sequence

from directory_server.postgres import PostgresStore
from directory_server.run_sync import inline

from ..contract.store import Briefs, StoreContract
from .conftest import PostgresAdapterTest


class TestPostgresStore(PostgresAdapterTest, StoreContract):
    async def store(self, sources: Sequence[str] = (), version: str = "1") -> PostgresStore:
        return PostgresStore(self.open_database(), inline, Briefs(version), sources)
