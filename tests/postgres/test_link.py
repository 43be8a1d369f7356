"""The link: pipelined statements, errors, notifications, lost and silent connections."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

import psycopg
import pytest
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.task import deferLater

from directory_server.domain.errors import Unavailable
from directory_server.postgres import Link
from directory_server.run_sync import run_sync

from .. import engines
from ..contract import awaited
from ..engines import Engine
from .conftest import Links

PID = "SELECT pg_backend_pid()"

RECOVERY = 60.0
"""Seconds in which a link must notice that the server has gone or is back, far above what it needs."""


@pytest.fixture
def own_engine() -> Iterator[Engine]:
    """Return a server that the test may stop."""
    engine = engines.new_engine()
    yield engine
    engine.close()


async def wait(seconds: float) -> None:
    from twisted.internet import reactor

    await deferLater(reactor, seconds)


async def outcome(link: Link, statement: str, *parameters: object) -> object:
    """Return the rows of a statement, or its error."""
    try:
        return await link.run(statement, *parameters)
    except (psycopg.Error, Unavailable) as error:
        return error


async def available(link: Link) -> None:
    """Wait until `link` runs statements again; fail after RECOVERY seconds."""
    end = monotonic() + RECOVERY
    while isinstance(found := await outcome(link, "SELECT 1"), Unavailable):
        assert monotonic() < end, found
        await wait(0.05)


def execute(engine: Engine, statement: str) -> None:
    with psycopg.connect(engine.conninfo, autocommit=True) as connection:
        connection.execute(statement)


@awaited
async def test_answers_come_in_order_and_an_error_ends_only_its_statement(open_link: Links) -> None:
    link = open_link()
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
            Deferred.fromCoroutine(outcome(link, statement, *([] if value is None else [value])))
            for statement, value in statements
        ]
    )
    assert [each if isinstance(each, list) else type(each) for each in found] == [
        [(2,)],
        psycopg.errors.DivisionByZero,
        psycopg.errors.SyntaxError,
        [(3,)],
        # It was sent before the PREPARE that it relies on had failed.
        Unavailable,
        [("é",)],
    ]
    # The PREPARE is tried again.
    assert type(await outcome(link, "SELECT 'a' +")) is psycopg.errors.SyntaxError
    assert await link.run("SELECT 1 / $1::int", 1) == [(1,)]


@awaited
async def test_parameters_and_rows_have_the_types_of_python(open_link: Links) -> None:
    link = open_link()
    values = [7, 2**40, 1.5, "text", b"\x00bytes", True, None]
    statement = "SELECT $1::bigint, $2::bigint, $3::float8, $4::text, $5::bytea, $6::boolean, $7::text"
    assert await link.run(statement, *values) == [tuple(values)]
    values[0] = 2**50
    assert await link.run(statement, *values) == [tuple(values)]
    lists = [["a", "b"], [1, 2**40]]
    assert await link.run("SELECT $1::text[], $2::bigint[]", *lists) == [tuple(lists)]
    assert await link.run("CREATE TEMPORARY TABLE t (n int)") == ()


@awaited
async def test_a_parameter_that_cannot_be_stored_sends_nothing(open_link: Links) -> None:
    link = open_link()
    with pytest.raises(psycopg.DataError):
        await link.run("SELECT $1::text", "a\x00b")
    with pytest.raises(UnicodeError):
        await link.run("SELECT $1::text", "\ud800")
    assert await link.run("SELECT $1::text", "a") == [("a",)]


@awaited
async def test_large_statements_and_answers_do_not_stall(open_link: Links) -> None:
    link = open_link()
    sizes = [3_000_000, 10, 500_000] * 4
    found = await gatherResults([Deferred.fromCoroutine(link.run("SELECT $1::bytea", bytes(size))) for size in sizes])
    assert [len(rows[0][0]) for rows in found] == sizes


@awaited
async def test_forced_options_hold_on_the_link(open_link: Links) -> None:
    assert await open_link().run("SELECT current_setting('synchronous_commit')") == [("on",)]


@awaited
async def test_notifications_and_connects_are_told(open_link: Links, engine: Engine) -> None:
    told: list[None] = []
    link = open_link(notified=lambda payloads: told.append(None))
    await link.run("SELECT 1")
    assert len(told) == 1
    execute(engine, "NOTIFY directory")
    end = monotonic() + RECOVERY
    while len(told) < 2:
        assert monotonic() < end
        await wait(0.01)


@awaited
async def test_a_lost_link_fails_its_statements_and_comes_back(open_link: Links, engine: Engine) -> None:
    lost: list[None] = []
    told: list[None] = []
    link = open_link(notified=lambda payloads: told.append(None), lost=lambda: lost.append(None))
    [(pid,)] = await link.run(PID)
    sleeping = Deferred.fromCoroutine(outcome(link, "SELECT pg_sleep(1.2)"))
    execute(engine, f"SELECT pg_terminate_backend({pid})")
    error = await sleeping
    assert isinstance(error, Unavailable)
    # Waits for the new connection.
    [(new_pid,)] = await link.run(PID)
    assert new_pid != pid
    assert (len(lost), len(told)) == (1, 2)


@awaited
async def test_a_statement_is_refused_at_once_after_two_seconds_without_a_server(
    open_link: Links, own_engine: Engine
) -> None:
    from twisted.internet import reactor

    from directory_server.postgres import Database
    from directory_server.threads import Offload

    offload = Offload(reactor)
    database = Database(own_engine.conninfo, offload)
    link = Link(database, reactor, offload)
    link.startService()
    try:
        await link.run("SELECT 1")
        own_engine.kill()
        first = [Deferred.fromCoroutine(outcome(link, "SELECT 1")) for _ in range(3)]
        assert {type(each) for each in await gatherResults(first)} == {Unavailable}
        end = monotonic() + RECOVERY
        while link._waiting or not link._is_away_long():
            assert monotonic() < end
            await wait(0.05)
        refused = Deferred.fromCoroutine(outcome(link, "SELECT 1"))
        assert refused.called
        assert isinstance(await refused, Unavailable)
        own_engine.start()
        await available(link)
        assert database.availability.fault is None
    finally:
        link.stopService()
        database.close()


@awaited
async def test_a_silent_server_is_given_up_with_the_threads_that_wait_for_it(own_engine: Engine) -> None:
    from twisted.internet import reactor

    from directory_server.postgres import Database
    from directory_server.threads import Offload

    offload = Offload(reactor)
    database = Database(own_engine.conninfo, offload)
    link = Link(database, reactor, offload, silent=database.interrupt)
    link.startService()
    try:
        await link.run("SELECT 1")
        await database.run("SELECT 1")
        own_engine.pause()
        in_thread = Deferred.fromCoroutine(database.run("SELECT 1")).addErrback(lambda failure: failure.value)
        on_link = Deferred.fromCoroutine(outcome(link, "SELECT 1"))
        assert isinstance(await on_link.addTimeout(RECOVERY, reactor), Unavailable)
        # No statement waits for the same server once more.
        refused = Deferred.fromCoroutine(outcome(link, "SELECT 1"))
        assert refused.called
        assert isinstance(await refused, Unavailable)
        assert isinstance(await in_thread.addTimeout(RECOVERY, reactor), Unavailable)
        own_engine.resume()
        await available(link)
        assert await database.run("SELECT 1") == [(1,)]
    finally:
        own_engine.resume()
        link.stopService()
        database.close()


@awaited
async def test_a_stopped_link_stays_closed(open_link: Links) -> None:
    link = open_link()
    await link.run("SELECT 1")
    sleeping = Deferred.fromCoroutine(outcome(link, "SELECT pg_sleep(1.2)"))
    link.stopService()
    assert isinstance(await sleeping, Unavailable)
    with pytest.raises(Unavailable, match="closed"):
        await link.run("SELECT 1")
    assert not link.is_up


@awaited
async def test_a_link_that_is_stopped_while_it_connects_stays_closed(open_link: Links) -> None:
    link = open_link()
    waiting = Deferred.fromCoroutine(outcome(link, "SELECT 1"))
    link.stopService()
    assert isinstance(await waiting, Unavailable)
    await wait(0.2)
    assert not link.is_up


def test_statements_run_without_a_reactor(engine: Engine) -> None:
    from directory_server.postgres import Database
    from directory_server.run_sync import inline

    class StoppedReactor:
        running = False

    database = Database(engine.conninfo)
    link = Link(database, StoppedReactor(), inline)
    assert run_sync(link.run("SELECT $1::int", 1)) == [(1,)]
    database.close()
