"""The bound on the waiting for a stopped database in threads that no reactor watches."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from directory_server.domain.errors import Unavailable
from directory_server.postgres import Cursor, Database, Watchdog
from directory_server.runtime.run_sync import run_sync

from .. import engines
from ..engines import Engine

BOUND = 60.0
"""Seconds after which a stopped database goes on, far above what its transaction needs to end before."""

pytestmark = pytest.mark.process


@pytest.fixture
def own_engine() -> Iterator[Engine]:
    """Return a server that the test may stop."""
    engine = engines.new_engine()
    yield engine
    engine.resume()
    engine.close()


@pytest.fixture
def watched(own_engine: Engine) -> Iterator[Database]:
    """Return a database with a watchdog that looks every tenth of a second."""
    database = Database(own_engine.conninfo)
    watchdog = Watchdog(database, 0.1)
    watchdog.start()
    yield database
    watchdog.stop()
    database.close()


def test_a_transaction_on_a_stopped_database_ends(watched: Database, own_engine: Engine) -> None:
    def stop(cursor: Cursor) -> None:
        cursor.one("SELECT 1")
        own_engine.pause()
        cursor.one("SELECT 1")

    # A defect ends the test, too: the server then answers again, and no error is raised.
    rescue = threading.Timer(BOUND, own_engine.resume)
    rescue.start()
    with pytest.raises(Unavailable, match="it does not respond"):
        run_sync(watched.read(stop))
    rescue.cancel()
    own_engine.resume()
    assert run_sync(watched.read(lambda cursor: cursor.one("SELECT 1"))) == (1,)


def test_a_long_statement_of_a_running_database_goes_on(watched: Database) -> None:
    assert run_sync(watched.read(lambda cursor: cursor.one("SELECT 1 FROM pg_sleep(1)"))) == (1,)


def test_an_error_of_a_new_connection_is_an_answer(watched: Database) -> None:
    # The transaction uses this connection, and the probes get an error.
    run_sync(watched.read(lambda cursor: cursor.one("SELECT 1")))
    watched.parameters = {**watched.parameters, "dbname": "unknown"}
    assert run_sync(watched.read(lambda cursor: cursor.one("SELECT 1 FROM pg_sleep(1)"))) == (1,)
