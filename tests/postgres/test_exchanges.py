"""Exchanges with the database: how often its server was ready for more, counted by a proxy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from twisted.internet import reactor as _reactor

from directory_server.domain.errors import BadInput
from directory_server.domain.throttling import AttemptLimit
from directory_server.features.publishing.service import PublishingService
from directory_server.features.publishing.tables import PublicationLog, PublisherTokens
from directory_server.postgres import (
    Database,
    PostgresAttempts,
    PostgresTables,
    Session,
    postgres_store,
)
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.runtime.threads import Offload
from directory_server.services.directory import Directory
from directory_server.tables import StoredCuration, StoredEndings

from ..contract import awaited
from ..contract.store import Briefs, entry
from ..engines import Engine
from ._wire import Wire

reactor: Any = _reactor


@pytest.fixture
def wire(engine: Engine) -> Iterator[Wire]:
    with closing(Wire(f"{engine.folder}/.s.PGSQL.5432")) as wire:
        yield wire


@pytest.fixture
def behind(wire: Wire) -> Iterator[Callable[..., Database]]:
    """Return a function that opens a database behind the proxy."""
    databases = []

    def open_one(offload: Any = inline) -> Database:
        databases.append(Database(wire.conninfo, offload))
        return databases[-1]

    yield open_one
    for database in databases:
        database.close()


class _Bus:
    def announce(self) -> None:
        """Do nothing: no process listens."""


@awaited
async def test_a_publish_takes_seven_exchanges(wire: Wire, behind: Callable[..., Database]) -> None:
    offload = Offload(reactor)
    database = behind(offload)
    session = Session(database, reactor)
    session.startService()
    tables = PostgresTables(database, session)
    try:
        tokens = PublisherTokens(tables, lambda: 1e9)
        log = PublicationLog(tables)
        store = postgres_store(database, offload, Briefs(), reads=session)
        service = PublishingService(
            tokens=tokens,
            log=log,
            directory=Directory(store=store, index=None, bus=_Bus()),  # type: ignore[arg-type]
            store=store,
            curation=StoredCuration(tables),
            attempts=PostgresAttempts(database, statements=session),
            now=lambda: 1e9,
            limit=AttemptLimit("publish", 100, 100),
            endings=StoredEndings(tables),
            announce=lambda: None,
            scopes=None,
        )
        _, secret = await tokens.create("token", ["x/*", "io.example/*"], expires_at=None)
        # The session has connected then.
        await service.authenticate(secret, "192.0.2.0/24")
        found: list[int] = []
        for number in range(30):
            before = wire.exchanges
            publisher = await service.authenticate(secret, "192.0.2.0/24")
            published = await service.publish(publisher, entry("x/a", f"1.{number}.0"))
            found.append(wire.exchanges - before)
            assert (published.entry.version, published.latest) == (f"1.{number}.0", True)
        # The driver prepares a statement in an exchange of its own, after it was sent some times.
        assert set(found[10:]) == {7}, found
        with pytest.raises(BadInput, match="is published already"):
            await service.publish(publisher, entry("x/a", "1.1.0"))
        outcomes = [record.outcome for _, record in await log.newest()]
        assert outcomes == ["version_exists", *["done"] * 30]
    finally:
        session.stopService()


def test_a_batch_takes_four_exchanges(wire: Wire, behind: Callable[..., Database]) -> None:
    store = postgres_store(behind(), inline, Briefs())
    run_sync(store.count())
    found: list[int] = []
    for number in range(8):
        batch = [entry(f"x/{name}", f"1.{number}.0") for name in range(50)]
        before = wire.exchanges
        assert run_sync(store.publish("a", batch)) == ["added"] * 50
        found.append(wire.exchanges - before)
    unchanged: list[int] = []
    for _ in range(8):
        before = wire.exchanges
        assert run_sync(store.publish("a", batch)) == ["unchanged"] * 50
        unchanged.append(wire.exchanges - before)
    assert (set(found), set(unchanged)) == ({4}, {2}), (found, unchanged)
    assert len(run_sync(store.changes(0, 1_000))) == 400
