"""Connections that fall silent while they are opened, begun, used or committed: no attempt waits for good."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from twisted.internet.defer import Deferred

from directory_server.domain.errors import Unavailable
from directory_server.postgres import TRIAL, Database, PostgresQuota, Session, Trial, _database, _session
from directory_server.postgres._availability import Proof
from directory_server.postgres._connection import Cursor
from directory_server.runtime.run_sync import run_sync
from directory_server.runtime.threads import Offload

from ..cluster._network import Network
from ..contract import awaited
from ..engines import Engine
from .test_session import RECOVERY, available, execute, outcome, wait

pytestmark = pytest.mark.process


@pytest.fixture
def network(engine: Engine) -> Iterator[Network]:
    network = Network(engine.folder)
    yield network
    network.close()


@asynccontextmanager
async def running_session(network: Network, *, listens: bool = False, tries: bool = False) -> AsyncIterator[Session]:
    """Yield a session through `network` that is open. It gets notifications if it `listens`, and `tries` charges."""
    from twisted.internet import reactor

    offload = Offload(reactor)
    database = Database(network.conninfo, offload)
    session = Session(database, reactor, trial=Trial(database, offload, TRIAL) if tries else None)
    if listens:
        session.listen("directory", lambda payloads: None)
    session.startService()
    try:
        await session.run("SELECT 1")
        yield session
    finally:
        session.stopService()
        database.close()


async def trapped(network: Network, count: int) -> None:
    """Wait until `count` connections are silent."""
    for _ in range(int(RECOVERY / 0.05)):
        if network.trapped >= count:
            return
        await wait(0.05)
    pytest.fail(f"{network.trapped} connections of {count} fell into the trap")


@pytest.mark.parametrize("trap", [b"SET ", b"LISTEN"])
@awaited
async def test_a_session_that_falls_silent_while_it_is_opened_is_opened_again(network: Network, trap: bytes) -> None:
    async with running_session(network, listens=True) as session:
        availability = session._database.availability
        network.trap = trap
        network.end_connections()
        # The second attempt begins although nothing ended the first.
        await trapped(network, 2)
        # Another connection of the process does not make the session available.
        availability.succeeded(Proof.WRITE)
        assert availability.since is not None
        network.trap = None
        await available(session)
        assert availability.since is None


@pytest.mark.parametrize("trap", [b"SET ", b"BEGIN", b"pg_sleep", b"COMMIT"])
def test_a_connection_of_a_thread_that_falls_silent_is_given_up(
    network: Network, monkeypatch: pytest.MonkeyPatch, trap: bytes
) -> None:
    monkeypatch.setattr(_database, "STATEMENT", 1.0)
    monkeypatch.setattr(_database, "COMMIT", 1.0)
    database = Database(network.conninfo)
    run_sync(database.read(lambda cursor: cursor.one("SELECT 1")))
    network.trap = trap
    if trap == b"SET ":
        network.end_connections()
    with pytest.raises(Unavailable, match="it does not respond"):
        run_sync(database.write(lambda cursor: cursor.one("SELECT pg_sleep(0)")))
    network.trap = None
    assert run_sync(database.read(lambda cursor: cursor.one("SELECT 1"))) == (1,)
    assert network.trapped > 0
    database.close()


def test_an_unlimited_transaction_may_wait(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_database, "STATEMENT", 0.1)
    database = Database(network.conninfo)
    with pytest.raises(Unavailable, match="it does not respond"):
        run_sync(database.read(lambda cursor: cursor.one("SELECT 1 FROM pg_sleep(0.6)")))

    def sleep(cursor: Cursor) -> object:
        cursor.unlimit()
        return cursor.one("SELECT 1 FROM pg_sleep(0.6)")

    assert run_sync(database.read(sleep)) == (1,)
    database.close()


@awaited
async def test_an_unexpected_error_does_not_end_the_attempts(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running_session(network) as session:
        failures = iter([OSError("no descriptor"), ValueError("unexpected")])

        def failing(*args: Any) -> Cursor:
            if (error := next(failures, None)) is not None:
                raise error
            return Cursor(*args)

        monkeypatch.setattr(_session, "Cursor", failing)
        network.end_connections()
        await available(session)
        assert next(failures, None) is None
        assert session._database.availability.since is None


@awaited
async def test_after_a_silence_charges_are_tried_before_those_of_clients(network: Network, engine: Engine) -> None:
    async with running_session(network, tries=True) as session:
        availability = session._database.availability
        network.trap = b"charge_"
        with pytest.raises(Unavailable, match="does not respond"):
            await session.run(TRIAL[0], *TRIAL[1], shows=Proof.CHARGE)
        # The trial is silent on new connections, too, while other statements run.
        await trapped(network, 3)
        await available(session)
        assert availability.needs(Proof.CHARGE)
        with pytest.raises(Unavailable, match="does not respond"):
            await PostgresQuota(session).charge("key", 20)
        network.trap = None
        while availability.since is not None:
            await wait(0.05)
        assert (await PostgresQuota(session).charge("key", 20)).remaining == 19


@awaited
async def test_without_requests_a_trial_ends_the_fault_of_a_charge(network: Network, engine: Engine) -> None:
    async with running_session(network, tries=True) as session:
        availability = session._database.availability
        execute(engine, "ALTER TABLE spent RENAME TO away")
        try:
            with pytest.raises(Unavailable, match="lacks tables of this version"):
                await session.run(TRIAL[0], *TRIAL[1], shows=Proof.CHARGE)
            for _ in range(3):
                await wait(_session.CHECK)
                await session.run("SELECT 1")
                assert availability.since is not None
        finally:
            execute(engine, "ALTER TABLE away RENAME TO spent")
        for _ in range(int(RECOVERY / 0.05)):
            if availability.since is None:
                break
            await wait(0.05)
        assert availability.since is None


ON_SPENT = "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%charge_1%'"


@awaited
async def test_while_charges_fail_only_the_trial_waits_for_the_lock(network: Network, engine: Engine) -> None:
    async with running_session(network, tries=True) as session, running_session(network) as reads:
        availability = session._database.availability
        with psycopg.connect(engine.conninfo) as connection:
            connection.execute("LOCK TABLE spent")
            with pytest.raises(Unavailable, match="has ended the statement"):
                await session.run(TRIAL[0], *TRIAL[1], shows=Proof.CHARGE)
            while (await reads.run(ON_SPENT)) != [(1,)]:
                await wait(0.05)
            # No charge or reading of spent quota is sent, and no other statement waits behind the trial.
            quota = PostgresQuota(session)
            for request in (quota.charge, quota.peek) * 3:
                with pytest.raises(Unavailable, match="has ended the statement"):
                    await request("key", 20)
            assert await session.run("SELECT 1") == [(1,)]
            assert await reads.run(ON_SPENT) == [(1,)]
            assert availability.needs(Proof.CHARGE)
        while availability.since is not None:
            await wait(0.05)
        assert (await PostgresQuota(session).charge("key", 20)).remaining == 19


@awaited
async def test_statements_that_wait_behind_others_for_a_lock_fail_together(network: Network, engine: Engine) -> None:
    async with running_session(network) as session, running_session(network) as other:
        availability, [(pid,)] = session._database.availability, await session.run("SELECT pg_backend_pid()")
        with psycopg.connect(engine.conninfo) as connection:
            connection.execute("LOCK TABLE change")
            waiting = [Deferred.fromCoroutine(outcome(session, f"SELECT {number} FROM change")) for number in range(20)]
            assert [type(await result) for result in waiting] == [Unavailable] * 20
            # None has waited for its turn.
            assert await session.run("SELECT pg_backend_pid()") == [(pid,)]
        assert availability.fault is None
        assert await other.run("SELECT 1") == [(1,)]


@awaited
async def test_a_lock_ends_its_statement_and_not_the_session(network: Network, engine: Engine) -> None:
    async with running_session(network) as session:
        [(pid,)] = await session.run("SELECT pg_backend_pid()")
        with psycopg.connect(engine.conninfo) as connection:
            connection.execute("LOCK TABLE change")
            with pytest.raises(Unavailable, match="it has ended the statement"):
                await session.run("SELECT count(*) FROM change")
            assert await session.run("SELECT pg_backend_pid()") == [(pid,)]
        assert session._database.availability.since is None
