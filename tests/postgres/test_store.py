"""PostgreSQL adapter of Store."""

from __future__ import annotations

from collections.abc import Sequence

from directory_server.postgres import PostgresStore
from directory_server.run_sync import inline

from ..contract.store import Briefs, LongLogContract, StoreContract
from .conftest import PostgresAdapterTest


class TestPostgresStore(PostgresAdapterTest, StoreContract):
    async def store(self, sources: Sequence[str] = (), version: str = "1") -> PostgresStore:
        return PostgresStore(self.open_database(), inline, Briefs(version), sources)


class TestPostgresLongLog(PostgresAdapterTest, LongLogContract):
    async def store(self) -> PostgresStore:
        return PostgresStore(self.open_database(), inline, Briefs())

    async def lengthen(self, seq: int) -> None:
        insert = "INSERT INTO change (seq, kind, mcp_id, total) VALUES ($1, 'added', '', 0)"
        await self.open_database().write(lambda cursor: cursor.execute(insert, [seq]))
