"""The two links of a process: short queries do not wait behind charges."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from attrs import evolve
from twisted.internet.defer import Deferred

from directory_server.config import Config
from directory_server.run_sync import inline
from directory_server.storage import Storage, open_storage

from .. import engines
from ..contract import awaited
from ..engines import Engine


@pytest.fixture
def engine() -> Engine:
    """Return the server that tests share, with empty tables."""
    engine = engines.shared_engine()
    engine.empty()
    return engine


@pytest.fixture
def storage(engine: Engine) -> Iterator[Storage]:
    """Return the storage of a server whose links are open."""
    from twisted.internet import reactor

    from directory_server import composition

    runtime = composition.machine_runtime(reactor)
    # The reactor runs already, so the start may not wait for threads.
    environment = evolve(runtime, offload=inline, lost=pytest.fail)
    storage = open_storage(Config(database=engine.conninfo), environment)
    service = storage.serving().bus_service
    service.startService()
    yield storage
    service.stopService()
    storage.close()
    runtime.stop()


@awaited
async def test_short_queries_do_not_wait_behind_a_charge(storage: Storage, engine: Engine) -> None:
    account = await storage.accounts.add("ann@example.org", "hash")
    session = await storage.sessions.open(account.id)
    _, token = await storage.registry_tokens.create("editors")
    key, _ = await storage.keys.create("robot", limit=20, expires_at=None, owner=account.id)
    with psycopg.connect(engine.conninfo) as other:
        # Another machine charges the same key, and its transaction is not finished.
        other.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", [key.id])
        charge = Deferred.fromCoroutine(storage.quota.charge(key.id, 20))
        assert await storage.sessions.find(session) == account
        assert await storage.registry_tokens.find(token)
        assert await storage.accounts.find("ann@example.org") == account
        assert await storage.accounts.password(account.id) == "hash"
        assert await storage.accounts.linked("unknown") is None
        assert await storage.keys.list(account.id) == [key]
        assert await storage.keys.live([key.id]) == {key.id}
        assert await storage.keys.ended(60.0) == set()
        assert await storage.store.entry("unknown") is None
        assert (await storage.store.oldest(), await storage.store.head(), await storage.store.count()) == (0, 0, 0)
        assert not charge.called
    assert (await charge).remaining == 19
