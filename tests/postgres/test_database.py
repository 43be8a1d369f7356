"""Transactions in threads: options, errors, retries, and connections that end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.task import Clock
from twisted.logger import LogEvent

from directory_server.domain.errors import BadInput, Unavailable
from directory_server.postgres import Cursor, Database
from directory_server.postgres._database import QUEUE
from directory_server.runtime.run_sync import run_sync
from directory_server.runtime.threads import Offload

from ..contract import awaited
from ..engines import Engine
from ..process.conftest import TIMEOUT
from ..sqlite.conftest import run_concurrently

PID = "SELECT pg_backend_pid()"
SETTING = "SELECT current_setting($1)"


def insert(cursor: Cursor) -> None:
    cursor.execute("INSERT INTO shared (name, value) VALUES ('a', 'b')")


def names(cursor: Cursor) -> list[str]:
    return [name for (name,) in cursor.all("SELECT name FROM shared ORDER BY name")]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("synchronous_commit", "on"),
        ("default_transaction_isolation", "read committed"),
        ("transaction_isolation", "read committed"),
        ("statement_timeout", "30s"),
        ("lock_timeout", "5s"),
        ("idle_in_transaction_session_timeout", "1min"),
        ("timezone", "UTC"),
        ("search_path", "public, pg_temp"),
        ("client_encoding", "UTF8"),
    ],
)
def test_forces_options_of_a_server_with_other_defaults(engine: Engine, name: str, value: str) -> None:
    with psycopg.connect(engine.conninfo, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS postgres")
        for setting in ("synchronous_commit = off", "default_transaction_isolation = 'serializable'"):
            connection.execute(f"ALTER ROLE postgres SET {setting}")
    database = Database(f"{engine.conninfo} options='-c timezone=Asia/Tokyo -c statement_timeout=0'")
    try:
        assert run_sync(database.write(lambda cursor: cursor.one(SETTING, name))) == (value,)
    finally:
        database.close()
        with psycopg.connect(engine.conninfo, autocommit=True) as connection:
            connection.execute("ALTER ROLE postgres RESET ALL")
            connection.execute("DROP SCHEMA postgres")


def test_commits_what_a_function_wrote(database: Database, open_database: Callable[[], Database]) -> None:
    run_sync(database.write(insert))
    assert run_sync(open_database().read(names)) == ["a"]


def test_rolls_back_when_a_function_raises(database: Database) -> None:
    def fail(cursor: Cursor) -> None:
        insert(cursor)
        raise BadInput("No.")

    with pytest.raises(BadInput):
        run_sync(database.write(fail))
    assert run_sync(database.read(names)) == []


def test_reads_write_nothing_and_see_one_snapshot(database: Database, open_database: Callable[[], Database]) -> None:
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        run_sync(database.read(insert))
    other = open_database()

    def read(cursor: Cursor) -> tuple[list[str], list[str]]:
        before = names(cursor)
        run_sync(other.write(insert))
        return before, names(cursor)

    assert run_sync(database.read(read)) == ([], [])


def test_tries_a_deadlock_again(database: Database, open_database: Callable[[], Database]) -> None:
    run_sync(
        database.write(
            lambda cursor: cursor.execute(
                "INSERT INTO follower (name, holder, until) VALUES ('0', '', 0), ('1', '', 0)"
            )
        )
    )
    databases = [open_database(), open_database()]
    calls: list[int] = []
    # Each transaction has locked its first row before any locks its second one. The next tries do not wait.
    first_rows = threading.Barrier(2)

    def add(number: int) -> None:
        def write(cursor: Cursor) -> None:
            is_first = number not in calls
            calls.append(number)
            for upstream in (str(number), str(1 - number)):
                cursor.execute("UPDATE follower SET until = until + 1 WHERE name = $1", (upstream,))
                if is_first and upstream == str(number):
                    first_rows.wait(TIMEOUT)

        run_sync(databases[number].write(write))

    run_concurrently(add, 2)
    assert run_sync(database.read(lambda cursor: cursor.all("SELECT until FROM follower"))) == [(2.0,), (2.0,)]
    assert len(calls) > 2


def test_gives_up_a_conflict_after_three_tries(database: Database) -> None:
    calls: list[None] = []

    def fail(cursor: Cursor) -> None:
        calls.append(None)
        cursor.execute("DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$")

    with pytest.raises(Unavailable, match="transactions conflict"):
        run_sync(database.write(fail))
    assert len(calls) == 3
    assert database.availability.fault is None


@pytest.mark.parametrize(
    ("code", "fault", "is_of_writes"),
    [
        ("53100", "its disk is full", True),
        ("53200", "it has no memory, disk space or connections left", True),
        ("57P03", "it is starting or shutting down", False),
        ("08006", "it does not respond", False),
        ("57014", None, False),
        ("55P03", None, False),
    ],
)
def test_a_fault_lasts_until_a_statement_succeeds_that_shows_its_end(
    database: Database, code: str, fault: str | None, is_of_writes: bool
) -> None:
    def fail(cursor: Cursor) -> None:
        cursor.execute(f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{code}'; END $$")

    with pytest.raises(Unavailable):
        run_sync(database.write(fail))
    assert database.availability.fault == fault
    run_sync(database.read(names))
    assert database.availability.fault == (fault if is_of_writes else None)
    # A transaction that may write, and does not, shows nothing about writes.
    run_sync(database.write(names))
    assert database.availability.fault == (fault if is_of_writes else None)
    run_sync(database.write(insert))
    assert database.availability.fault is None


def test_replaces_connections_that_ended_while_idle(database: Database, open_database: Callable[[], Database]) -> None:
    pid = run_sync(database.read(lambda cursor: cursor.one(PID)))
    run_sync(open_database().write(lambda cursor: cursor.one("SELECT pg_terminate_backend($1)", *pid)))
    assert run_sync(database.read(lambda cursor: cursor.one(PID))) != pid
    assert database.availability.fault is None


def test_a_connection_that_ends_in_a_transaction_makes_it_unavailable(database: Database) -> None:
    def end(cursor: Cursor) -> None:
        insert(cursor)
        cursor.one("SELECT pg_terminate_backend(pg_backend_pid())")

    with pytest.raises(Unavailable, match="it is shutting down"):
        run_sync(database.write(end))
    assert run_sync(database.read(names)) == []


def test_a_closed_database_is_unavailable(database: Database) -> None:
    run_sync(database.read(names))
    database.close()
    with pytest.raises(Unavailable, match="closed"):
        run_sync(database.read(names))


@pytest.mark.parametrize("conninfo", ["host=/nowhere password=hunter2", "postgresql://me:hunter2@127.0.0.1:1/x"])
def test_no_error_or_log_line_has_the_password(conninfo: str) -> None:
    events: list[LogEvent] = []
    database = Database(conninfo)
    database.availability._log = type(database.availability._log)(observer=events.append)  # type: ignore[arg-type]
    with pytest.raises(Unavailable, match="it does not respond") as caught:
        run_sync(database.read(names))
    assert "hunter2" not in str(caught.value)
    assert len(events) == 1
    assert "hunter2" not in str(events)


@pytest.mark.parametrize("conninfo", ["hunter2", "host=a hunter2", "postgresql://me:hunter2@[", "host='hunter2"])
def test_an_invalid_connection_string_is_not_repeated(conninfo: str) -> None:
    with pytest.raises(Unavailable, match="must be a connection string") as caught:
        Database(conninfo)
    error: BaseException | None = caught.value
    assert error
    assert "hunter2" not in str(error)
    assert error.__cause__ is None
    assert error.__suppress_context__


@pytest.mark.parametrize("connections", [1, 3])
@awaited
async def test_runs_a_limited_number_of_transactions_at_a_time(engine: Engine, connections: int) -> None:
    from twisted.internet import reactor

    database = Database(engine.conninfo, Offload(reactor), connections=connections)
    active: list[int] = []
    most: list[int] = []
    together = threading.Barrier(connections)

    def read(cursor: Cursor) -> int:
        active.append(0)
        most.append(len(active))
        if len(most) <= connections:
            together.wait(TIMEOUT)
        cursor.execute("SELECT pg_sleep(0.01)")
        active.pop()
        return int(cursor.one(PID)[0])

    pids = await gatherResults([Deferred.fromCoroutine(database.read(read)) for _ in range(20)])
    database.close()
    assert max(most) == connections
    assert len(set(pids)) == connections


@awaited
async def test_a_cancelled_caller_frees_its_connection_when_the_thread_is_done(
    open_database: Callable[..., Database],
) -> None:
    from twisted.internet import reactor

    database = open_database(Offload(reactor))
    reads = [Deferred.fromCoroutine(database.read(lambda cursor: cursor.one(PID))) for _ in range(10)]
    for read in reads[:8]:
        read.addErrback(lambda failure: None)
        read.cancel()
    assert len(await gatherResults(reads[8:])) == 2
    assert len(await gatherResults([Deferred.fromCoroutine(database.read(names)) for _ in range(4)])) == 4


def test_a_transaction_waits_for_a_connection_no_longer_than_the_bound() -> None:
    begun: list[Deferred[Any]] = []

    def offload(function: Callable[..., Any], /, *args: Any, **options: Any) -> Deferred[Any]:
        begun.append(Deferred())
        return begun[-1]

    clock = Clock()
    database = Database("host=unused", offload, clock=clock)
    results: list[Any] = [Deferred.fromCoroutine(database.read(names)) for _ in range(3)]
    clock.advance(QUEUE - 0.1)
    # Of the two that wait, one gets the connection.
    begun[0].callback("first")
    assert [result.called for result in results] == [True, False, False]
    late = Deferred.fromCoroutine(database.write(insert))
    clock.advance(0.1)
    assert [result.called for result in results] == [True, False, True]
    assert results[2].result.check(Unavailable)
    assert "other requests are waiting" in results[2].result.getErrorMessage()
    results[2].addErrback(lambda failure: None)
    # Neither the one that runs nor the one that came later has reached its bound, and no other one runs.
    assert not late.called
    begun[1].callback("second")
    assert len(begun) == 3
    begun[2].callback("late")
    assert [results[0].result, results[1].result, late.result] == ["first", "second", "late"]
    assert not clock.getDelayedCalls()
    assert not database.is_busy
