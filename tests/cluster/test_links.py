"""The two links of a process: short queries do not wait behind charges."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress

import psycopg
import pytest
from attrs import evolve
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.task import deferLater

from directory_server.config import Config
from directory_server.postgres import _upkeep
from directory_server.runtime.run_sync import inline
from directory_server.storage import Serving, Storage, open_storage

from .. import engines
from ..contract import awaited
from ..engines import Engine

Server = tuple[Storage, Serving, list[str]]
"""The storage of a server, what it runs, and the reasons why it must stop."""


@pytest.fixture
def engine() -> Engine:
    """Return the server that tests share, with empty tables."""
    engine = engines.shared_engine()
    engine.empty()
    return engine


@pytest.fixture
def server(engine: Engine) -> Iterator[Server]:
    """Return a server whose links are open."""
    from twisted.internet import reactor

    from directory_server import composition

    runtime = composition.machine_runtime(reactor)
    # The reactor runs already, so the start may not wait for threads.
    lost: list[str] = []
    environment = evolve(runtime, offload=inline, lost=lost.append)
    storage = open_storage(Config(database=engine.conninfo), environment)
    serving = storage.control.serving()
    serving.bus_service.startService()
    yield storage, serving, lost
    serving.bus_service.stopService()
    storage.close()
    runtime.stop()


@pytest.fixture
def storage(server: Server) -> Storage:
    return server[0]


@awaited
async def test_short_queries_do_not_wait_behind_a_charge(storage: Storage, engine: Engine) -> None:
    account = await storage.people.accounts.add("ann@example.org", "hash")
    session = await storage.people.sessions.open(account.id)
    _, token = await storage.people.registry_tokens.create("editors")
    key, _ = await storage.people.keys.create("robot", limit=20, expires_at=None, owner=account.id)
    with psycopg.connect(engine.conninfo) as other:
        # Another machine charges the same key, and its transaction is not finished.
        other.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", [key.id])
        charge = Deferred.fromCoroutine(storage.people.quota.charge(key.id, 20))
        assert await storage.people.sessions.find(session) == account
        assert await storage.people.registry_tokens.find(token)
        assert await storage.people.accounts.find("ann@example.org") == account
        assert await storage.people.accounts.password(account.id) == "hash"
        assert await storage.people.accounts.linked("unknown") is None
        assert await storage.people.keys.list(account.id) == [key]
        assert await storage.people.keys.live([key.id]) == {key.id}
        assert await storage.people.keys.ended(60.0) == set()
        assert await storage.store.entry("unknown") is None
        assert (await storage.store.oldest(), await storage.store.head(), await storage.store.count()) == (0, 0, 0)
        assert not charge.called
    assert (await charge).remaining == 19


@asynccontextmanager
async def running(server: Server) -> AsyncIterator[None]:
    """Run the services of `server` in the block."""
    services = server[1].services
    for service in services:
        service.startService()
    try:
        yield
    finally:
        for service in services:
            await maybeDeferred(service.stopService)


@awaited
async def test_a_server_ends_abandoned_transactions(
    server: Server, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from twisted.internet import reactor

    monkeypatch.setattr(_upkeep, "ABANDONED", 0.0)
    with psycopg.connect(engine.conninfo, application_name="directory-server") as other:
        other.execute("SELECT pg_advisory_xact_lock(0, 1)")
        async with running(server):
            for _ in range(1_000):
                await deferLater(reactor, 0.02)
                with suppress(psycopg.Error):
                    other.execute("SELECT 1")
                    continue
                break
            else:
                pytest.fail("the session did not end")
    assert server[2] == []


@awaited
async def test_a_server_stops_when_the_schema_needs_newer_software(server: Server, engine: Engine) -> None:
    from twisted.internet import reactor

    with psycopg.connect(engine.conninfo, autocommit=True) as other:
        other.execute("INSERT INTO applied_step VALUES ('tables', 9999, 9999, 0)")
        try:
            async with running(server):
                for _ in range(1_000):
                    await deferLater(reactor, 0.02)
                    if server[2]:
                        break
        finally:
            other.execute("DELETE FROM applied_step WHERE number = 9999")
    (reason,) = server[2]
    assert "A newer version of the directory server has upgraded the database" in reason
