"""Transactions whose client has fallen silent: their sessions end, whatever the client sent last."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from psycopg.pq.abc import PGconn
from twisted.internet.defer import Deferred

from directory_server.domain.errors import Unavailable
from directory_server.postgres import Database, _upkeep, end_abandoned
from directory_server.postgres._connection import connect, parameters
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import PUBLISHERS

from .. import engines
from ..contract import awaited
from ..engines import Engine
from ..ports import free_port
from .conftest import Open, OpenSession
from .test_session import wait

WAITS = 600
"""Looks at the sessions, a twentieth of a second apart, until one has ended or waits for its client."""

BOUND = 60.0
"""Seconds within which an abandoned transaction must end."""

LOCK = PUBLISHERS.encode()

Client = Callable[[PGconn], object]


def begin(connection: PGconn) -> None:
    assert connection.exec_(b"BEGIN").status == psycopg.pq.ExecStatus.COMMAND_OK


def pipelined(connection: PGconn) -> None:
    """Send a transaction that takes the lock of publishers, without a Sync."""
    connection.enter_pipeline_mode()
    for statement in (b"BEGIN", LOCK):
        connection.send_query_params(statement, None)


def flushed_without_sync(connection: PGconn) -> None:
    pipelined(connection)
    connection.send_flush_request()
    connection.flush()


def synced_and_flushed(connection: PGconn) -> None:
    pipelined(connection)
    connection.pipeline_sync()
    connection.send_flush_request()
    connection.flush()


def plain(connection: PGconn) -> None:
    begin(connection)
    connection.exec_(LOCK)


def half_a_message(connection: PGconn) -> None:
    plain(connection)
    os.write(connection.socket, b"Q\x00\x00")


def copying_in(connection: PGconn) -> None:
    plain(connection)
    connection.exec_(b"CREATE TEMPORARY TABLE copied (n int)")
    connection.exec_(b"COPY copied FROM STDIN")


def reading_nothing(connection: PGconn) -> None:
    plain(connection)
    connection.send_query(b"SELECT repeat('x', 1000) FROM generate_series(1, 20000)")


def implicit(connection: PGconn) -> None:
    """Send a statement as a session does, and its Sync never."""
    connection.enter_pipeline_mode()
    connection.send_query_params(LOCK, None)
    connection.send_flush_request()
    connection.flush()


ABANDONED: list[Client] = [
    flushed_without_sync,
    synced_and_flushed,
    plain,
    half_a_message,
    copying_in,
    reading_nothing,
    implicit,
]


class Sessions:
    """Sessions of the database, and how the server sees them."""

    def __init__(self, engine: Engine) -> None:
        self._conninfo = engine.conninfo
        self._watcher = psycopg.connect(engine.conninfo, autocommit=True, application_name="watcher")
        self.opened: list[psycopg.Connection[Any]] = []

    def open(self, client: Client, name: str = "directory-server") -> int:
        """Open a session of the program `name` for `client`; return its process id once the client is silent."""
        session = psycopg.connect(self._conninfo, autocommit=True, application_name=name)
        self.opened.append(session)
        pid = session.info.backend_pid
        client(session.pgconn)
        self.wait_until("xact_start IS NOT NULL AND wait_event_type = 'Client'", pid)
        return pid

    def exists(self, pid: int) -> bool:
        return self._has("true", pid)

    def wait_until(self, condition: str, pid: int, count: int = 1) -> None:
        """Wait until `count` sessions with `pid` fulfil `condition`."""
        for _ in range(WAITS):
            if self._has(condition, pid) == bool(count):
                return
            self._watcher.execute("SELECT pg_sleep(0.05)")
        pytest.fail(f"{condition}: never")

    def close(self) -> None:
        for session in (*self.opened, self._watcher):
            session.close()

    def _has(self, condition: str, pid: int) -> bool:
        found = self._watcher.execute(f"SELECT 1 FROM pg_stat_activity WHERE pid = %s AND {condition}", [pid])
        return found.fetchone() is not None


@pytest.fixture(autouse=True)
def _without_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_upkeep, "ABANDONED", 0.0)


@pytest.fixture
def sessions(engine: Engine) -> Iterator[Sessions]:
    sessions = Sessions(engine)
    yield sessions
    sessions.close()


@pytest.mark.parametrize("client", ABANDONED, ids=lambda client: client.__name__)
def test_an_abandoned_transaction_ends_whatever_was_sent(
    database: Database, sessions: Sessions, client: Client
) -> None:
    pid = sessions.open(client)
    run_sync(end_abandoned(database))
    sessions.wait_until("true", pid, 0)
    # Its locks are free.
    run_sync(database.write(lambda cursor: cursor.execute(PUBLISHERS)))


def test_a_transaction_is_not_abandoned_at_once(
    database: Database, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    pid = sessions.open(synced_and_flushed)
    run_sync(end_abandoned(database))
    assert sessions.exists(pid)


@pytest.mark.parametrize("name", ["psql", "directory-server import", ""])
def test_sessions_of_other_programs_stay(database: Database, sessions: Sessions, name: str) -> None:
    pid = sessions.open(plain, name)
    run_sync(end_abandoned(database))
    assert sessions.exists(pid)


@awaited
async def test_sessions_without_a_transaction_and_those_that_wait_for_the_server_stay(
    open_database: Open, open_session: OpenSession
) -> None:
    session, idle = open_session(), open_database()
    await idle.run("SELECT 1")
    backend = next(iter(idle._shutters)).info.backend_pid
    pid = (await session.run("SELECT pg_backend_pid()"))[0][0]
    slow = Deferred.fromCoroutine(session.run("SELECT 1 FROM pg_sleep(0.5)"))
    other = open_session()
    while not await other.run("SELECT 1 FROM pg_stat_activity WHERE pid = $1::int AND wait_event = 'PgSleep'", pid):
        await wait(0.01)
    await end_abandoned(other)
    await slow
    assert (await session.run("SELECT pg_backend_pid()"))[0][0] == pid
    assert await other.run("SELECT 1 FROM pg_stat_activity WHERE pid = $1::int", backend)


def test_the_bound_has_time_for_two_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert _upkeep.ABANDONED + 2 * _upkeep.REPORT_INTERVAL < BOUND


def test_nothing_is_ended_while_the_database_is_away() -> None:
    class Away:
        async def run(self, statement: str, *parameters: object, **options: object) -> Any:
            raise Unavailable("away")

    run_sync(end_abandoned(Away()))


def test_the_server_notices_a_machine_that_has_gone() -> None:
    engine = engines.new_engine(settings={"listen_addresses": "127.0.0.1", "port": str(free_port())})
    with closing(engine), connect(parameters(engine.conninfo.replace(str(engine.folder), "127.0.0.1"))) as connection:
        names = ("tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count", "tcp_user_timeout")
        idle, interval, count, unread = (int(*connection.execute(f"SHOW {name}").fetchone() or ()) for name in names)
    # Without an answer, and without an acknowledgement of what was sent (in milliseconds).
    assert idle + interval * count < BOUND
    assert unread < BOUND * 1000


PUBLISH = """
import sys
from directory_server.postgres import Database
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import PUBLISHERS

def hold(cursor):
    cursor.together((PUBLISHERS, ()), ("SELECT 1", ()))
    print("publishing", flush=True)
    sys.stdin.read()

run_sync(Database(sys.argv[1]).write(hold))
"""


@pytest.mark.process
def test_a_frozen_process_does_not_stop_the_publishers_of_others(database: Database, engine: Engine) -> None:
    frozen = subprocess.Popen(
        [sys.executable, "-c", PUBLISH, engine.conninfo], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert frozen.stdout is not None
        assert frozen.stdout.readline() == "publishing\n"
        frozen.send_signal(signal.SIGSTOP)
        with pytest.raises(Unavailable, match="has held a lock for too long"):
            run_sync(database.write(lambda cursor: cursor.execute(PUBLISHERS)))
        run_sync(end_abandoned(database))
        run_sync(database.write(lambda cursor: cursor.execute(PUBLISHERS)))
    finally:
        frozen.kill()
        frozen.communicate()
