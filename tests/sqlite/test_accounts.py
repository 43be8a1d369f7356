"""SQLite adapters of Accounts and Sessions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest
from twisted.internet.task import Clock

from directory_server.domain.errors import NotFound
from directory_server.run_sync import run_sync
from directory_server.sqlite import Database, SqliteAccounts, SqliteSessions, _sessions

from ..contract.accounts import ABSOLUTE, IDLE, AccountsContract
from ..contract.sessions import SessionsContract
from .conftest import SqliteAdapterTest, run_concurrently, stored_bytes


class TestSqliteAccounts(SqliteAdapterTest, AccountsContract, SessionsContract):
    async def accounts_and_sessions(self, now: Callable[[], float]) -> tuple[SqliteAccounts, SqliteSessions]:
        database = self.open_database("directory")
        return SqliteAccounts(database, now), SqliteSessions(database, now, IDLE, ABSOLUTE)


@pytest.fixture
def accounts(directory_database: Database, clock: Clock) -> SqliteAccounts:
    return SqliteAccounts(directory_database, clock.seconds)


@pytest.fixture
def sessions(directory_database: Database, clock: Clock) -> SqliteSessions:
    return SqliteSessions(directory_database, clock.seconds, IDLE, ABSOLUTE)


def count_rows(database: Database, table: str) -> int:
    with database.connection() as connection:
        (rows,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(rows)


def test_stores_no_secret_of_a_link_or_a_session(
    directory_database: Database, accounts: SqliteAccounts, sessions: SqliteSessions
) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    secrets = [run_sync(accounts.link(ann.id, lifetime=60)), run_sync(sessions.open(ann.id))]
    directory_database.close()
    stored = stored_bytes(directory_database)
    assert b"ann@example.org" in stored
    assert not any(secret.encode() in stored for secret in secrets)


def test_one_of_several_concurrent_callers_redeems_a_link(accounts: SqliteAccounts) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    token = run_sync(accounts.link(ann.id, lifetime=60))
    outcomes: list[str] = []

    def redeem(number: int) -> None:
        hashed = f"hash {number}"
        try:
            run_sync(accounts.redeem(token, hashed))
            outcomes.append(hashed)
        except NotFound:
            outcomes.append("not found")

    run_concurrently(redeem)
    assert outcomes.count("not found") == 7
    assert run_sync(accounts.password(ann.id)) in outcomes


def test_accounts_of_an_older_schema_are_approved(tmp_path: Path) -> None:
    steps = sorted(files("directory_server.sqlite").joinpath("schema", "directory").iterdir(), key=lambda s: s.name)
    with closing(sqlite3.connect(tmp_path / "directory.db")) as connection:
        for step in steps[:5]:
            connection.executescript(step.read_text("utf-8"))
        connection.execute("INSERT INTO account (id, email, created_at) VALUES ('old', 'old@example.org', 1)")
        connection.execute("PRAGMA user_version = 5")
        connection.commit()
    database = Database(tmp_path, "directory")
    (old,) = run_sync(SqliteAccounts(database, lambda: 1_000_000.0).list())
    database.close()
    assert (old.id, old.approved) == ("old", True)


def test_deletes_ended_sessions(
    directory_database: Database, clock: Clock, accounts: SqliteAccounts, sessions: SqliteSessions
) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    for _ in range(3):
        run_sync(sessions.open(ann.id))
    clock.advance(IDLE)
    run_sync(sessions.open(ann.id))
    assert count_rows(directory_database, "session") == 1


@pytest.mark.parametrize("seconds", [IDLE, ABSOLUTE])
def test_a_sign_in_deletes_few_sessions(
    directory_database: Database,
    accounts: SqliteAccounts,
    sessions: SqliteSessions,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
) -> None:
    monkeypatch.setattr(_sessions, "MAX_FORGOTTEN", 2)
    opening = sessions if seconds == IDLE else SqliteSessions(directory_database, clock.seconds, 1e9, ABSOLUTE)
    ann = run_sync(accounts.add("ann@example.org"))
    for _ in range(7):
        run_sync(sessions.open(ann.id))
    clock.advance(seconds)
    left = []
    for _ in range(3):
        run_sync(opening.open(ann.id))
        left.append(count_rows(directory_database, "session"))
    assert left == [6, 5, 4]


def test_the_last_use_of_a_session_is_written_every_quarter_of_an_hour(
    directory_database: Database, clock: Clock, accounts: SqliteAccounts, sessions: SqliteSessions
) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    session = run_sync(sessions.open(ann.id))
    with directory_database.connection() as connection:
        before = connection.total_changes
        for _ in range(100):
            clock.advance(IDLE / 100)
            assert run_sync(sessions.find(session)) == ann
        # Each write changes one row of the session and one of its account. Every fourth use is 15 minutes later.
        assert connection.total_changes - before == 2 * 25
