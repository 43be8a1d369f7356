from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest
from twisted.internet.task import Clock

from directory_server.domain.errors import NotFound
from directory_server.run_sync import run_sync
from directory_server.sqlite import Database, SqliteAccounts, SqliteSessions

from ..contract.accounts import ABSOLUTE, IDLE, AccountsContract
from .conftest import Open


class TestSqliteAccounts(AccountsContract):
    @pytest.fixture(autouse=True)
    def _databases(self, open_database: Open) -> None:
        self._open = open_database

    async def both(self, now: Callable[[], float]) -> tuple[SqliteAccounts, SqliteSessions]:
        database = self._open("directory")
        return SqliteAccounts(database, now), SqliteSessions(database, now, IDLE, ABSOLUTE)


@pytest.fixture
def database(open_database: Open) -> Database:
    return open_database("directory")


@pytest.fixture
def clock() -> Clock:
    clock = Clock()
    clock.advance(1_000_000)
    return clock


@pytest.fixture
def accounts(database: Database, clock: Clock) -> SqliteAccounts:
    return SqliteAccounts(database, clock.seconds)


@pytest.fixture
def sessions(database: Database, clock: Clock) -> SqliteSessions:
    return SqliteSessions(database, clock.seconds, IDLE, ABSOLUTE)


def count(database: Database, table: str) -> int:
    with database.connection() as connection:
        (rows,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(rows)


def test_stores_no_secret_of_a_link_or_a_session(
    database: Database, accounts: SqliteAccounts, sessions: SqliteSessions
) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    secrets = [run_sync(accounts.link(ann.id, lifetime=60)), run_sync(sessions.open(ann.id))]
    database.close()
    kept = b"".join(file.read_bytes() for file in database.path.parent.glob("directory.db*"))
    assert b"ann@example.org" in kept
    assert not any(secret.encode() in kept for secret in secrets)


def test_one_of_many_that_use_a_link_at_once_gets_it(accounts: SqliteAccounts) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    token = run_sync(accounts.link(ann.id, lifetime=60))
    begin = threading.Barrier(8)
    outcomes: list[str] = []

    def use(hashed: str) -> None:
        begin.wait()
        try:
            run_sync(accounts.redeem(token, hashed))
            outcomes.append(hashed)
        except NotFound:
            outcomes.append("refused")

    threads = [threading.Thread(target=use, args=(f"hash {number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("refused") == 7
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
    database: Database, clock: Clock, accounts: SqliteAccounts, sessions: SqliteSessions
) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    for _ in range(3):
        run_sync(sessions.open(ann.id))
    clock.advance(IDLE)
    run_sync(sessions.open(ann.id))
    assert count(database, "session") == 1


def test_writes_only_now_and_then_that_a_session_is_in_use(
    database: Database, clock: Clock, accounts: SqliteAccounts, sessions: SqliteSessions
) -> None:
    ann = run_sync(accounts.add("ann@example.org"))
    session = run_sync(sessions.open(ann.id))
    with database.connection() as connection:
        before = connection.total_changes
        for _ in range(100):
            clock.advance(IDLE / 100)
            assert run_sync(sessions.find(session)) == ann
        # Each time a row of the session and one of its account.
        assert connection.total_changes - before == 2 * 10
