"""The session: statements, errors, notifications, lost and silent connections."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from inspect import isawaitable
from time import monotonic

import psycopg
import pytest
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.task import deferLater

from directory_server.domain.errors import Unavailable
from directory_server.postgres import Session
from directory_server.runtime.run_sync import run_sync

from .. import engines
from ..contract import awaited
from ..engines import Engine
from .conftest import OpenSession

PID = "SELECT pg_backend_pid()"

RECOVERY = 60.0
"""Seconds in which a session must notice that the server has gone or is back, far above what it needs."""


@pytest.fixture
def own_engine() -> Iterator[Engine]:
    """Return a server that the test may stop."""
    engine = engines.new_engine()
    yield engine
    engine.close()


async def wait(seconds: float) -> None:
    from twisted.internet import reactor

    await deferLater(reactor, seconds)


async def outcome(session: Session, statement: str, *parameters: object) -> object:
    """Return the rows of a statement, or its error."""
    try:
        return await session.run(statement, *parameters)
    except (psycopg.Error, Unavailable) as error:
        return error


async def until(condition: Callable[[], bool | Awaitable[bool]]) -> None:
    """Wait until `condition` returns True; fail after RECOVERY seconds."""
    end = monotonic() + RECOVERY
    while not (await result if isawaitable(result := condition()) else result):
        assert monotonic() < end
        await wait(0.05)


async def available(session: Session) -> None:
    """Wait until `session` runs statements again."""

    async def answers() -> bool:
        return not isinstance(await outcome(session, "SELECT 1"), Unavailable)

    await until(answers)


def execute(engine: Engine, statement: str) -> None:
    with psycopg.connect(engine.conninfo, autocommit=True) as connection:
        connection.execute(statement)


@awaited
async def test_answers_come_in_order_and_an_error_ends_only_its_statement(open_session: OpenSession) -> None:
    session = open_session()
    statements = [
        ("SELECT $1::int + 1", 1),
        ("SELECT 1 / $1::int", 0),
        ("SELECT 'a' +", None),
        ("SELECT $1::int + 1", 2),
        ("SELECT 'a' +", None),
        ("SELECT $1::text", "é"),
    ]
    found = await gatherResults(
        [
            Deferred.fromCoroutine(outcome(session, statement, *([] if value is None else [value])))
            for statement, value in statements
        ]
    )
    assert [each if isinstance(each, list) else type(each) for each in found] == [
        [(2,)],
        psycopg.errors.DivisionByZero,
        psycopg.errors.SyntaxError,
        [(3,)],
        psycopg.errors.SyntaxError,
        [("é",)],
    ]
    assert await session.run("SELECT 1 / $1::int", 1) == [(1,)]


@awaited
async def test_parameters_and_rows_have_the_types_of_python(open_session: OpenSession) -> None:
    session = open_session()
    values = [7, 2**40, 1.5, "text", b"\x00bytes", True, None]
    statement = "SELECT $1::bigint, $2::bigint, $3::float8, $4::text, $5::bytea, $6::boolean, $7::text"
    assert await session.run(statement, *values) == [tuple(values)]
    values[0] = 2**50
    assert await session.run(statement, *values) == [tuple(values)]
    lists = [["a", "b"], [1, 2**40]]
    assert await session.run("SELECT $1::text[], $2::bigint[]", *lists) == [tuple(lists)]
    assert await session.run("CREATE TEMPORARY TABLE t (n int)") == []


@awaited
async def test_a_parameter_that_cannot_be_stored_sends_nothing(open_session: OpenSession) -> None:
    session = open_session()
    with pytest.raises(psycopg.DataError):
        await session.run("SELECT $1::text", "a\x00b")
    with pytest.raises(UnicodeError):
        await session.run("SELECT $1::text", "\ud800")
    assert await session.run("SELECT $1::text", "a") == [("a",)]


@awaited
async def test_large_statements_and_answers_do_not_stall(open_session: OpenSession) -> None:
    session = open_session()
    sizes = [3_000_000, 10, 500_000] * 4
    found = await gatherResults(
        [Deferred.fromCoroutine(session.run("SELECT $1::bytea", bytes(size))) for size in sizes]
    )
    assert [len(rows[0][0]) for rows in found] == sizes


@awaited
async def test_forced_options_hold_in_the_session(open_session: OpenSession) -> None:
    assert await open_session().run("SELECT current_setting('synchronous_commit')") == [("on",)]


@awaited
async def test_notifications_and_connects_are_told(open_session: OpenSession, engine: Engine) -> None:
    told: list[None] = []
    session = open_session(notified=lambda payloads: told.append(None))
    await session.run("SELECT 1")
    assert len(told) == 1
    execute(engine, "NOTIFY directory")
    await until(lambda: len(told) == 2)


@awaited
async def test_notifications_are_passed_before_the_answer_that_they_came_with(open_session: OpenSession) -> None:
    payloads: list[str] = []
    session = open_session(notified=payloads.extend)
    await session.run("SELECT 1")
    for number in range(20):
        await session.run(f"NOTIFY directory, '{number}'")
        assert payloads[-1] == str(number)


@awaited
async def test_a_lost_session_fails_its_statement_and_comes_back(open_session: OpenSession, engine: Engine) -> None:
    lost: list[None] = []
    told: list[None] = []
    session = open_session(notified=lambda payloads: told.append(None), lost=lambda: lost.append(None))
    [(pid,)] = await session.run(PID)
    sleeping = Deferred.fromCoroutine(outcome(session, "SELECT pg_sleep(1.2)"))
    execute(engine, f"SELECT pg_terminate_backend({pid})")
    error = await sleeping
    assert isinstance(error, Unavailable)
    # Waits for the new connection.
    [(new_pid,)] = await session.run(PID)
    assert new_pid != pid
    assert (len(lost), len(told)) == (1, 2)


@awaited
async def test_a_statement_is_refused_at_once_after_two_seconds_without_a_server(own_engine: Engine) -> None:
    from twisted.internet import reactor

    from directory_server.postgres import Database
    from directory_server.runtime.threads import Offload

    offload = Offload(reactor)
    database = Database(own_engine.conninfo, offload)
    session = Session(database, reactor)
    session.startService()
    try:
        await session.run("SELECT 1")
        own_engine.kill()
        first = [Deferred.fromCoroutine(outcome(session, "SELECT 1")) for _ in range(3)]
        away = "The database cannot be used now: it does not respond."
        assert [str(error) for error in await gatherResults(first)] == [away] * 3
        await until(lambda: not session._unanswered and session._is_away_long())
        refused = Deferred.fromCoroutine(outcome(session, "SELECT 1"))
        assert refused.called
        assert isinstance(await refused, Unavailable)
        own_engine.start()
        await available(session)
        assert database.availability.fault is None
    finally:
        session.stopService()
        database.close()


@awaited
async def test_a_silent_server_is_given_up_with_the_threads_that_wait_for_it(own_engine: Engine) -> None:
    from twisted.internet import reactor

    from directory_server.postgres import Database
    from directory_server.runtime.threads import Offload

    offload = Offload(reactor)
    database = Database(own_engine.conninfo, offload)
    silences: list[bool] = []
    session = Session(database, reactor, silent=lambda: silences.append(session.is_up))
    session.startService()
    try:
        await session.run("SELECT 1")
        await database.run("SELECT 1")
        own_engine.pause()
        in_thread = Deferred.fromCoroutine(database.run("SELECT 1")).addErrback(lambda failure: failure.value)
        in_session = Deferred.fromCoroutine(outcome(session, "SELECT 1"))
        assert isinstance(await in_session.addTimeout(RECOVERY, reactor), Unavailable)
        # It is called before the session counts as lost.
        assert silences == [True]
        # No statement waits for the same server once more.
        refused = Deferred.fromCoroutine(outcome(session, "SELECT 1"))
        assert refused.called
        assert isinstance(await refused, Unavailable)
        assert isinstance(await in_thread.addTimeout(RECOVERY, reactor), Unavailable)
        own_engine.resume()
        await available(session)
        assert await database.run("SELECT 1") == [(1,)]
    finally:
        own_engine.resume()
        session.stopService()
        database.close()


@awaited
async def test_a_stopped_session_stays_closed(open_session: OpenSession) -> None:
    session = open_session()
    await session.run("SELECT 1")
    sleeping = Deferred.fromCoroutine(outcome(session, "SELECT pg_sleep(1.2)"))
    session.stopService()
    assert isinstance(await sleeping, Unavailable)
    with pytest.raises(Unavailable, match="closed"):
        await session.run("SELECT 1")
    assert not session.is_up


@awaited
async def test_a_session_that_is_stopped_while_it_connects_stays_closed(open_session: OpenSession) -> None:
    session = open_session()
    waiting = Deferred.fromCoroutine(outcome(session, "SELECT 1"))
    session.stopService()
    assert isinstance(await waiting, Unavailable)
    await wait(0.2)
    assert not session.is_up


def test_statements_run_without_a_reactor(engine: Engine) -> None:
    from directory_server.postgres import Database

    class StoppedReactor:
        running = False

    database = Database(engine.conninfo)
    session = Session(database, StoppedReactor())
    assert run_sync(session.run("SELECT $1::int", 1)) == [(1,)]
    database.close()
