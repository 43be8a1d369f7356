"""PostgreSQL adapter of Store."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.domain.entries import mcp_id_of
from directory_server.postgres import Database, postgres_store
from directory_server.threads import Offload

from ..contract import awaited
from ..contract.store import NAME, Briefs, entry
from .conftest import Links


@awaited
async def test_looks_one_entry_up_on_the_link(open_database: Callable[..., Database], open_link: Links) -> None:
    from twisted.internet import reactor

    database = open_database(Offload(reactor))
    store = postgres_store(database, Offload(reactor), Briefs(), reads=open_link())
    await store.publish("a", [entry()])
    database.close()
    assert await store.entry(mcp_id_of(NAME)) == entry()
    assert await store.entry("none") is None
