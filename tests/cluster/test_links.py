"""The two links of a process: short queries do not wait behind charges."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest
from attrs import evolve
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.task import deferLater

from directory_server.config import Config
from directory_server.postgres import _upkeep
from directory_server.run_sync import inline
from directory_server.storage import Serving, Storage, open_storage

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
def server(engine: Engine) -> Iterator[tuple[Storage, Serving]]:
    """Return the storage of a server whose links are open, and what it runs."""
    from twisted.internet import reactor

    from directory_server import composition

    runtime = composition.machine_runtime(reactor)
    # The reactor runs already, so the start may not wait for threads.
    environment = evolve(runtime, offload=inline, lost=pytest.fail)
    storage = open_storage(Config(database=engine.conninfo), environment)
    serving = storage.serving()
    serving.bus_service.startService()
    yield storage, serving
    serving.bus_service.stopService()
    storage.close()
    runtime.stop()


@pytest.fixture
def storage(server: tuple[Storage, Serving]) -> Storage:
    return server[0]


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


@awaited
async def test_a_server_ends_abandoned_transactions(
    server: tuple[Storage, Serving], engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from twisted.internet import reactor

    monkeypatch.setattr(_upkeep, "ABANDONED", 0.0)
    with psycopg.connect(engine.conninfo, application_name="directory-server") as other:
        other.execute("SELECT pg_advisory_xact_lock(0, 1)")
        _, serving = server
        for service in serving.services:
            service.startService()
        try:
            for _ in range(1_000):
                await deferLater(reactor, 0.02)
                with suppress(psycopg.Error):
                    other.execute("SELECT 1")
                    continue
                break
            else:
                pytest.fail("the session did not end")
        finally:
            for service in serving.services:
                await maybeDeferred(service.stopService)
