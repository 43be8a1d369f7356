"""StoredAccounts and StoredSessions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from importlib.resources import files
from pathlib import Path

import pytest
from twisted.internet.task import Clock

from directory_server.domain.errors import BadInput, NotFound, TooManyAccounts
from directory_server.run_sync import run_sync
from directory_server.sqlite import Database as SqliteDatabase
from directory_server.sqlite import SqliteTables
from directory_server.tables import StoredAccounts, StoredSessions, Tables, _sessions

from ..contract.accounts import ABSOLUTE, IDLE, AccountsContract
from ..contract.sessions import SessionsContract
from ..sqlite.conftest import run_concurrently
from .conftest import OpenTables, TablesTest, number, rows_of

TOGETHER = 6

ROUNDS = 10
"""Repetitions of a race, so that code without a lock fails."""


class TestAccounts(TablesTest, AccountsContract, SessionsContract):
    async def accounts_and_sessions(self, now: Callable[[], float]) -> tuple[StoredAccounts, StoredSessions]:
        tables = self.open_tables()
        return StoredAccounts(tables, now), StoredSessions(tables, now, IDLE, ABSOLUTE)


@pytest.fixture
def accounts(tables: Tables, clock: Clock) -> StoredAccounts:
    return StoredAccounts(tables, clock.seconds)


@pytest.fixture
def sessions(tables: Tables, clock: Clock) -> StoredSessions:
    return StoredSessions(tables, clock.seconds, IDLE, ABSOLUTE)


def pulse(tables: Tables) -> int:
    return number(tables, "SELECT keys FROM pulse")


def test_stores_no_secret_of_a_link_or_a_session(
    tables: Tables, accounts: StoredAccounts, sessions: StoredSessions
) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    secrets = [run_sync(accounts.link(ann.id, lifetime=60)), run_sync(sessions.open(ann.id))]
    stored = str([rows_of(tables, f"SELECT * FROM {table}") for table in ("account", "link", "session")])
    assert "ann@example.org" in stored
    assert not any(secret in stored for secret in secrets)


def connected(open_tables: OpenTables, clock: Clock) -> list[StoredAccounts]:
    """Return accounts of several processes with open connections, so that their statements come together."""
    processes = [StoredAccounts(open_tables(), clock.seconds) for _ in range(TOGETHER)]
    for process in processes:
        run_sync(process.list())
    return processes


def test_one_of_several_concurrent_callers_redeems_a_link(open_tables: OpenTables, clock: Clock) -> None:
    processes = connected(open_tables, clock)
    ann = run_sync(processes[0].add("ann@example.org"))
    for _ in range(ROUNDS):
        token = run_sync(processes[0].link(ann.id, lifetime=60))
        outcomes: list[str] = []
        run_concurrently(partial(redeem, processes, token, outcomes), TOGETHER)
        assert outcomes.count("not found") == TOGETHER - 1
        assert run_sync(processes[0].password(ann.id)) in outcomes


def redeem(processes: list[StoredAccounts], token: str, outcomes: list[str], process: int) -> None:
    try:
        run_sync(processes[process].redeem(token, f"hash {process}"))
        outcomes.append(f"hash {process}")
    except NotFound:
        outcomes.append("not found")


def test_one_of_several_concurrent_callers_gets_an_address(open_tables: OpenTables, clock: Clock) -> None:
    processes = [StoredAccounts(open_tables(), clock.seconds) for _ in range(TOGETHER)]
    taken: list[int] = []

    def add(process: int) -> None:
        try:
            run_sync(processes[process].add("ann@example.org"))
        except BadInput:
            taken.append(process)

    run_concurrently(add, TOGETHER)
    assert len(taken) == TOGETHER - 1
    assert len(run_sync(processes[0].list())) == 1


def test_concurrent_registrations_keep_the_limit(open_tables: OpenTables, clock: Clock) -> None:
    processes = connected(open_tables, clock)
    for last in range(ROUNDS):
        # The limit allows one more account.
        rejected: list[int] = []
        run_concurrently(partial(register, processes, last, rejected), TOGETHER)
        assert len(rejected) == TOGETHER - 1
        assert len(run_sync(processes[0].list())) == last + 1


def register(processes: list[StoredAccounts], last: int, rejected: list[int], process: int) -> None:
    try:
        run_sync(processes[process].register(f"{last}-{process}@example.org", "hash", most=last + 1))
    except TooManyAccounts:
        rejected.append(process)


def test_concurrent_changes_of_an_account_do_not_block_each_other(open_tables: OpenTables, clock: Clock) -> None:
    opened = [open_tables() for _ in range(TOGETHER)]
    accounts = [StoredAccounts(tables, clock.seconds) for tables in opened]
    sessions = [StoredSessions(tables, clock.seconds, IDLE, ABSOLUTE) for tables in opened]
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


def test_what_may_end_or_change_a_key_moves_the_pulse(tables: Tables, accounts: StoredAccounts) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    unapproved = run_sync(accounts.register("ben@example.org", "hash", most=5))
    run_sync(accounts.set_password(ann.id, "hash"))
    assert pulse(tables) == 0
    run_sync(accounts.disable(ann.id))
    assert pulse(tables) == 1
    run_sync(accounts.approve(unapproved.id))
    assert pulse(tables) == 2


@pytest.mark.parametrize("open_tables", ["postgres"], indirect=True)
def test_the_removal_of_an_account_moves_the_pulse(tables: Tables, accounts: StoredAccounts) -> None:
    """SQLite counts when keys of the account are deleted."""
    ann = run_sync(accounts.add("ann@example.org"))
    pending = run_sync(accounts.register("cy@example.org", "hash", most=5))
    assert not run_sync(accounts.remove(ann.id, before=2_000_000))
    assert pulse(tables) == 0
    assert run_sync(accounts.remove(pending.id, before=2_000_000))
    assert pulse(tables) == 1


def test_sqlite_accounts_of_an_older_schema_are_approved(tmp_path: Path) -> None:
    steps = sorted(files("directory_server.sqlite").joinpath("schema", "directory").iterdir(), key=lambda s: s.name)
    with closing(sqlite3.connect(tmp_path / "directory.db")) as connection:
        for step in steps[:5]:
            connection.executescript(step.read_text("utf-8"))
        connection.execute("INSERT INTO account (id, email, created_at) VALUES ('old', 'old@example.org', 1)")
        connection.execute("PRAGMA user_version = 5")
        connection.commit()
    database = SqliteDatabase(tmp_path, "directory")
    (old,) = run_sync(StoredAccounts(SqliteTables(database), lambda: 1_000_000.0).list())
    database.close()
    assert (old.id, old.approved) == ("old", True)


@pytest.mark.parametrize("seconds", [IDLE, ABSOLUTE])
def test_a_sign_in_deletes_few_sessions(
    tables: Tables,
    accounts: StoredAccounts,
    sessions: StoredSessions,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
) -> None:
    monkeypatch.setattr(_sessions, "MAX_FORGOTTEN", 2)
    opening = sessions if seconds == IDLE else StoredSessions(tables, clock.seconds, 1e9, ABSOLUTE)
    ann = run_sync(accounts.add("ann@example.org"))
    for _ in range(7):
        run_sync(sessions.open(ann.id))
    clock.advance(seconds)
    left = []
    for _ in range(3):
        run_sync(opening.open(ann.id))
        left.append(number(tables, "SELECT count(*) FROM session"))
    assert left == [6, 5, 4]


def test_the_last_use_of_a_session_is_written_every_quarter_of_an_hour(
    tables: Tables, clock: Clock, accounts: StoredAccounts, sessions: StoredSessions
) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    session = run_sync(sessions.open(ann.id))
    written = set()
    for _ in range(100):
        clock.advance(IDLE / 100)
        assert run_sync(sessions.find(session)) == ann
        written |= set(rows_of(tables, "SELECT session.seen_at, account.seen_at FROM session, account"))
    # Every fourth use is 15 minutes later.
    assert len(written) == 26
