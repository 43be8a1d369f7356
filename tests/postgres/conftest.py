"""Fixtures of the PostgreSQL adapters: one server for all tests, with empty tables for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from directory_server.domain.ports import runtime
from directory_server.postgres import Database, Session
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.runtime.threads import Offload
from directory_server.tables import CHANNEL

from .. import engines
from ..engines import Engine

Open = Callable[[], Database]


@pytest.fixture(scope="session")
def migrated_engine() -> Engine:
    """Return the shared server, with the schema of this version."""
    engine = engines.shared_engine()
    database = Database(engine.conninfo)
    run_sync(database.upgrade())
    database.close()
    return engine


@pytest.fixture
def engine(migrated_engine: Engine) -> Engine:
    """Return the shared server with empty tables."""
    migrated_engine.empty()
    return migrated_engine


@pytest.fixture
def open_database(engine: Engine) -> Iterator[Callable[..., Database]]:
    """Return a function that opens a database; each call acts as another process with the same data."""
    opened = []

    def open_one(offload: runtime.Offload = inline) -> Database:
        opened.append(Database(engine.conninfo, offload))
        return opened[-1]

    yield open_one
    for database in opened:
        database.close()


@pytest.fixture
def database(open_database: Open) -> Database:
    return open_database()


OpenSession = Callable[..., Session]


@pytest.fixture
def open_session(open_database: Callable[..., Database]) -> Iterator[OpenSession]:
    """Return a function that opens a running session on the test's reactor, with the arguments of Session.

    With `notified`, the session listens to the channel `directory`.
    """
    from twisted.internet import reactor

    sessions = []

    def open_one(notified: Callable[[Sequence[str]], None] | None = None, **options: Any) -> Session:
        offload = Offload(reactor)
        sessions.append(Session(open_database(offload), reactor, **options))
        if notified is not None:
            sessions[-1].listen(CHANNEL, notified)
        sessions[-1].startService()
        return sessions[-1]

    yield open_one
    for session in sessions:
        session.stopService()


class PostgresAdapterTest:
    """Base of the tests of an adapter. Each call of `open_database` acts as another process with the same data."""

    open_database: Open

    @pytest.fixture(autouse=True)
    def _open_database(self, open_database: Open) -> None:
        self.open_database = open_database
