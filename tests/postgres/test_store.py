"""PostgreSQL adapter of Store."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from directory_server.domain.entries import mcp_id_of
from directory_server.postgres import Database, PostgresStore
from directory_server.run_sync import inline
from directory_server.threads import Offload

from ..contract import awaited
from ..contract.change_log import ChangeLogContract, LongLogContract
from ..contract.store import NAME, Briefs, StoreContract, entry
from ..contract.store_versions import StoreVersionsContract
from .conftest import Links, PostgresAdapterTest


class TestPostgresStore(PostgresAdapterTest, StoreContract, StoreVersionsContract, ChangeLogContract):
    async def store(self, sources: Sequence[str] = (), version: str = "1") -> PostgresStore:
        return PostgresStore(self.open_database(), inline, Briefs(version), sources)


class TestPostgresLongLog(PostgresAdapterTest, LongLogContract):
    async def store(self) -> PostgresStore:
        return PostgresStore(self.open_database(), inline, Briefs())

    async def lengthen(self, seq: int) -> None:
        insert = "INSERT INTO change (seq, kind, mcp_id, total) VALUES ($1, 'added', '', 0)"
        await self.open_database().write(lambda cursor: cursor.execute(insert, [seq]))


@awaited
async def test_looks_one_entry_up_on_the_link(open_database: Callable[..., Database], open_link: Links) -> None:
    from twisted.internet import reactor

    database = open_database(Offload(reactor))
    store = PostgresStore(database, Offload(reactor), Briefs(), reads=open_link())
    await store.publish("a", [entry()])
    database.close()
    assert await store.entry(mcp_id_of(NAME)) == entry()
    assert await store.entry("none") is None
