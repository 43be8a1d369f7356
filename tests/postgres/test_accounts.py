"""PostgreSQL adapters of Accounts and Sessions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import psycopg
import pytest
from twisted.internet.task import Clock

from directory_server.domain.errors import BadInput, NotFound, TooManyAccounts
from directory_server.postgres import Database, PostgresAccounts, PostgresSessions, _sessions
from directory_server.run_sync import run_sync

from ..contract.accounts import ABSOLUTE, IDLE, AccountsContract
from ..contract.sessions import SessionsContract
from ..engines import Engine
from ..sqlite.conftest import run_concurrently
from .conftest import Open, PostgresAdapterTest

TOGETHER = 6

ROUNDS = 10
"""Repetitions of a race, so that code without a lock fails."""


class TestPostgresAccounts(PostgresAdapterTest, AccountsContract, SessionsContract):
    async def accounts_and_sessions(self, now: Callable[[], float]) -> tuple[PostgresAccounts, PostgresSessions]:
        database = self.open_database()
        return PostgresAccounts(database, now), PostgresSessions(database, now, IDLE, ABSOLUTE)


@pytest.fixture
def clock() -> Clock:
    clock = Clock()
    clock.advance(1_000_000)
    return clock


@pytest.fixture
def accounts(database: Database, clock: Clock) -> PostgresAccounts:
    return PostgresAccounts(database, clock.seconds)


@pytest.fixture
def sessions(database: Database, clock: Clock) -> PostgresSessions:
    return PostgresSessions(database, clock.seconds, IDLE, ABSOLUTE)


def number(database: Database, query: str) -> int:
    return int(run_sync(database.read(lambda cursor: cursor.one(query)))[0])


def pulse(database: Database) -> int:
    return number(database, "SELECT keys FROM pulse")


def test_stores_no_secret_of_a_link_or_a_session(
    engine: Engine, accounts: PostgresAccounts, sessions: PostgresSessions
) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    secrets = [run_sync(accounts.link(ann.id, lifetime=60)), run_sync(sessions.open(ann.id))]
    with psycopg.connect(engine.conninfo) as connection:
        stored = str(
            [connection.execute(f"SELECT * FROM {table}").fetchall() for table in ("account", "link", "session")]
        )
    assert "ann@example.org" in stored
    assert not any(secret in stored for secret in secrets)


def connected(open_database: Open, clock: Clock) -> list[PostgresAccounts]:
    """Return accounts of several processes with open connections, so that their statements come together."""
    processes = [PostgresAccounts(open_database(), clock.seconds) for _ in range(TOGETHER)]
    for each in processes:
        run_sync(each.list())
    return processes


def test_one_of_several_concurrent_callers_redeems_a_link(open_database: Open, clock: Clock) -> None:
    processes = connected(open_database, clock)
    ann = run_sync(processes[0].add("ann@example.org"))
    for _ in range(ROUNDS):
        token = run_sync(processes[0].link(ann.id, lifetime=60))
        outcomes: list[str] = []
        run_concurrently(partial(redeem, processes, token, outcomes), TOGETHER)
        assert outcomes.count("not found") == TOGETHER - 1
        assert run_sync(processes[0].password(ann.id)) in outcomes


def redeem(processes: list[PostgresAccounts], token: str, outcomes: list[str], process: int) -> None:
    try:
        run_sync(processes[process].redeem(token, f"hash {process}"))
        outcomes.append(f"hash {process}")
    except NotFound:
        outcomes.append("not found")


def test_one_of_several_concurrent_callers_gets_an_address(open_database: Open, clock: Clock) -> None:
    processes = [PostgresAccounts(open_database(), clock.seconds) for _ in range(TOGETHER)]
    taken: list[int] = []

    def add(process: int) -> None:
        try:
            run_sync(processes[process].add("ann@example.org"))
        except BadInput:
            taken.append(process)

    run_concurrently(add, TOGETHER)
    assert len(taken) == TOGETHER - 1
    assert len(run_sync(processes[0].list())) == 1


def test_concurrent_registrations_keep_the_limit(open_database: Open, clock: Clock) -> None:
    processes = connected(open_database, clock)
    for last in range(ROUNDS):
        # The limit allows one more account.
        rejected: list[int] = []
        run_concurrently(partial(register, processes, last, rejected), TOGETHER)
        assert len(rejected) == TOGETHER - 1
        assert len(run_sync(processes[0].list())) == last + 1


def register(processes: list[PostgresAccounts], last: int, rejected: list[int], process: int) -> None:
    try:
        run_sync(processes[process].register(f"{last}-{process}@example.org", "hash", most=last + 1))
    except TooManyAccounts:
        rejected.append(process)


def test_concurrent_changes_of_an_account_do_not_block_each_other(open_database: Open, clock: Clock) -> None:
    databases = [open_database() for _ in range(TOGETHER)]
    accounts = [PostgresAccounts(database, clock.seconds) for database in databases]
    sessions = [PostgresSessions(database, clock.seconds, IDLE, ABSOLUTE) for database in databases]
    ann = run_sync(accounts[0].add("ann@example.org"))
    unexpected: list[Exception] = []

    def change(process: int) -> None:
        mine = accounts[process]
        try:
            for _ in range(5):
                run_sync(sessions[process].open(ann.id))
                run_sync(mine.set_password(ann.id, "hash"))
                token = run_sync(mine.link(ann.id, lifetime=60))
                with suppress(NotFound):
                    run_sync(mine.redeem(token, "hash"))
        except Exception as error:
            unexpected.append(error)

    run_concurrently(change, TOGETHER)
    assert unexpected == []


def test_what_may_end_or_change_a_key_moves_the_pulse(database: Database, accounts: PostgresAccounts) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    unapproved = run_sync(accounts.register("ben@example.org", "hash", most=5))
    run_sync(accounts.set_password(ann.id, "hash"))
    assert pulse(database) == 0
    run_sync(accounts.disable(ann.id))
    assert pulse(database) == 1
    run_sync(accounts.approve(unapproved.id))
    assert pulse(database) == 2
    pending = run_sync(accounts.register("cy@example.org", "hash", most=5))
    assert not run_sync(accounts.remove(ann.id, before=2_000_000))
    assert pulse(database) == 2
    assert run_sync(accounts.remove(pending.id, before=2_000_000))
    assert pulse(database) == 3


def test_names_that_no_database_can_hold_are_not_found(accounts: PostgresAccounts) -> None:
    for name in ("a\0b", "\udc80"):
        assert run_sync(accounts.password(name)) is None
        assert not run_sync(accounts.remove(name, before=0))
        with pytest.raises(NotFound):
            run_sync(accounts.disable(name))


def test_deletes_ended_sessions(
    database: Database, clock: Clock, accounts: PostgresAccounts, sessions: PostgresSessions
) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    for _ in range(3):
        run_sync(sessions.open(ann.id))
    clock.advance(IDLE)
    run_sync(sessions.open(ann.id))
    assert number(database, "SELECT count(*) FROM session") == 1


@pytest.mark.parametrize("seconds", [IDLE, ABSOLUTE])
def test_a_sign_in_deletes_few_sessions(
    database: Database,
    accounts: PostgresAccounts,
    sessions: PostgresSessions,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
) -> None:
    monkeypatch.setattr(_sessions, "MAX_FORGOTTEN", 2)
    opening = sessions if seconds == IDLE else PostgresSessions(database, clock.seconds, 1e9, ABSOLUTE)
    ann = run_sync(accounts.add("ann@example.org"))
    for _ in range(7):
        run_sync(sessions.open(ann.id))
    clock.advance(seconds)
    left = []
    for _ in range(3):
        run_sync(opening.open(ann.id))
        left.append(number(database, "SELECT count(*) FROM session"))
    assert left == [6, 5, 4]


def test_the_last_use_of_a_session_is_written_every_quarter_of_an_hour(
    database: Database, clock: Clock, accounts: PostgresAccounts, sessions: PostgresSessions
) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    session = run_sync(sessions.open(ann.id))
    written = set()
    for _ in range(100):
        clock.advance(IDLE / 100)
        assert run_sync(sessions.find(session)) == ann
        written.add(run_sync(database.read(lambda cursor: cursor.one("SELECT seen_at FROM session")))[0])
    # Every fourth use is 15 minutes later.
    assert len(written) == 26
