"""Database: files, transactions, snapshots, threads and error messages."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from directory_server.domain.errors import Unavailable
from directory_server.runtime.run_sync import run_sync
from directory_server.sqlite import Database, _connection, _database, _migrations
from directory_server.sqlite._connection import is_busy
from directory_server.sqlite._transactions import TransactionQueue

from ..conftest import Open
from .conftest import ManualOffload, outcomes

INSERT = "INSERT INTO spent (key, at, n) VALUES ('k', 0, ?)"
COUNT = "SELECT count(*) FROM spent"


def count(database: Database) -> int:
    with database.connection() as connection:
        return int(connection.execute(COUNT).fetchone()[0])


def test_creates_a_private_folder_and_the_schema(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "data"
    database = Database(folder, "quota")
    with database.connection() as connection:
        assert connection.execute(COUNT).fetchone() == (0,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    database.close()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_reopening_keeps_the_data(open_database: Open) -> None:
    with open_database("quota").transaction() as connection:
        connection.execute(INSERT, (1,))
    assert count(open_database("quota")) == 1


def test_opening_writes_nothing(open_database: Open) -> None:
    with open_database("quota").connection() as connection:
        before = connection.execute("PRAGMA data_version").fetchone()
        open_database("quota")
        assert connection.execute("PRAGMA data_version").fetchone() == before


def test_an_upgrade_locks_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade, upgraded = _migrations.upgrade, []

    def upgrade_locked(connection: sqlite3.Connection, path: Path, schema: _database.Schema) -> None:
        folder = os.open(path.parent, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(folder)
        upgraded.append(path)
        upgrade(connection, path, schema)

    monkeypatch.setattr(_database, "upgrade", upgrade_locked)
    database = Database(tmp_path, "quota")
    database.close()
    assert upgraded == [database.path]


def test_a_folder_lock_of_another_process_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_connection, "TIMEOUT", 0.1)
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    with pytest.raises(Unavailable, match=rf"^another process has locked {tmp_path} for more than 0.1 seconds\."):
        Database(tmp_path, "quota")
    os.close(folder)
    Database(tmp_path, "quota").close()


def test_waits_for_an_upgrade_by_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    waits = []

    class CountingEvent:
        def wait(self, seconds: float) -> None:
            waits.append(seconds)
            if len(waits) == 3:
                os.close(folder)

    monkeypatch.setattr(threading, "Event", CountingEvent)
    Database(tmp_path, "quota").close()
    assert len(waits) == 3


def test_opens_a_current_database_while_another_process_writes(open_database: Open, tmp_path: Path) -> None:
    one = open_database("quota")
    with one.transaction():
        assert count(open_database("quota")) == 0


@pytest.fixture
def lock_against_readers(tmp_path: Path) -> Iterator[Callable[[], sqlite3.Connection]]:
    """Return a function that locks the closed quota database against readers, and returns its connection."""
    connections = []

    def lock() -> sqlite3.Connection:
        connection = sqlite3.connect(tmp_path / "quota.db", isolation_level=None)
        connections.append(connection)
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        return connection

    yield lock
    for connection in connections:
        connection.close()


def test_reads_use_the_queue_only_if_the_database_is_locked(
    open_database: Open, lock_against_readers: Callable[[], sqlite3.Connection]
) -> None:
    database, offload = open_database("quota"), ManualOffload()
    begin = database.snapshot
    foreign = lock_against_readers()
    database.queue = TransactionQueue("quota.db", lambda *, wait=None: begin(wait=0), Clock(), offload)
    reading = Deferred.fromCoroutine(database.read(lambda connection: connection.execute(COUNT).fetchone()))
    assert outcomes(reading) == [...]
    foreign.close()
    offload.run_next()
    assert outcomes(reading) == [(0,)]
    assert run_sync(database.read(lambda connection: connection.execute(COUNT).fetchone())) == (0,)
    assert offload.pending == []


def test_a_lock_without_waiting_is_no_storage_fault(
    open_database: Open, lock_against_readers: Callable[[], sqlite3.Connection]
) -> None:
    database = open_database("quota")
    foreign = lock_against_readers()
    with pytest.raises(Unavailable) as caught, database.connection(wait=0):
        pass
    assert is_busy(caught.value)
    foreign.close()
    with open_database("quota").transaction(), pytest.raises(Unavailable) as caught, database.transaction(wait=0):
        pass
    assert is_busy(caught.value)
    assert database.availability.faults == []


def test_rejects_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "quota.db").write_bytes(b"This is plain text. " * 100)
    with pytest.raises(Unavailable, match=r"quota\.db cannot be used now: the file is not an SQLite database"):
        Database(tmp_path, "quota")


def test_rejects_a_data_directory_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(Unavailable, match="The data directory cannot be created"):
        Database(tmp_path / "data", "quota")


def test_rejects_an_old_sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 36, 9))
    with pytest.raises(Unavailable, match=r"SQLite 3\.37\.0 or newer is needed"):
        Database(tmp_path, "quota")


def test_a_lock_held_too_long_is_an_error(open_database: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = open_database("quota"), open_database("quota")
    monkeypatch.setattr(_database, "BUSY_TIMEOUT", 0.0)
    with one.transaction(), pytest.raises(Unavailable, match="another process has held its lock"), other.transaction():
        pass


def test_a_damaged_file_is_an_error(open_database: Open) -> None:
    database = open_database("quota")
    with database.transaction() as connection:
        connection.executemany(INSERT, ((number,) for number in range(5000)))
    database.close()
    damaged = bytearray(database.path.read_bytes())
    damaged[4096:] = b"\xff" * (len(damaged) - 4096)
    database.path.write_bytes(damaged)
    with pytest.raises(Unavailable, match=r"quota\.db cannot be used now: the file is damaged"):
        count(open_database("quota"))


def test_programming_errors_are_raised_unchanged(open_database: Open) -> None:
    database = open_database("quota")
    with pytest.raises(sqlite3.IntegrityError), database.transaction() as connection:
        connection.executemany(INSERT, [(1,), (1,)])
    assert count(database) == 0


@pytest.mark.parametrize("reason", [ValueError, KeyboardInterrupt])
def test_an_exception_rolls_the_transaction_back(open_database: Open, reason: type[BaseException]) -> None:
    database = open_database("quota")

    def fail_during_transaction() -> None:
        with database.transaction() as connection:
            connection.execute(INSERT, (1,))
            raise reason

    with pytest.raises(reason):
        fail_during_transaction()
    assert count(database) == 0
    with database.transaction() as connection:
        connection.execute(INSERT, (1,))
    assert count(open_database("quota")) == 1


def test_a_failed_commit_rolls_the_transaction_back(directory_database: Database) -> None:
    unknown = "INSERT INTO key_use (key_id, at, network, client) VALUES ('nosuchid', 1, 'a', 'b')"
    with pytest.raises(sqlite3.IntegrityError), directory_database.transaction() as connection:  # noqa: PT012
        connection.execute("PRAGMA defer_foreign_keys = ON")
        connection.execute(unknown)
    with directory_database.transaction() as connection:
        assert connection.execute("SELECT count(*) FROM key_use").fetchone() == (0,)


def test_a_snapshot_does_not_see_later_writes(open_database: Open) -> None:
    one, other = open_database("quota"), open_database("quota")
    with one.snapshot() as connection:
        assert connection.execute(COUNT).fetchone() == (0,)
        with other.transaction() as writing:
            writing.execute(INSERT, (1,))
        assert connection.execute(COUNT).fetchone() == (0,)
    assert count(one) == 1


def test_a_closed_database_is_unavailable_in_every_thread(open_database: Open) -> None:
    database = open_database("quota")
    with ThreadPoolExecutor(1) as used, ThreadPoolExecutor(1) as unused:
        assert count(database) == used.submit(count, database).result() == 0
        database.close()
        database.close()
        with pytest.raises(Unavailable, match=r"quota\.db is closed"):
            count(database)
        for thread in (used, unused):
            assert isinstance(thread.submit(count, database).exception(), Unavailable)


def test_close_waits_for_a_transaction(open_database: Open) -> None:
    database = open_database("quota")
    started, may_continue = Event(), Event()

    def write() -> None:
        with database.transaction() as connection:
            started.set()
            may_continue.wait()
            connection.execute(INSERT, (1,))

    with ThreadPoolExecutor(2) as threads:
        writing = threads.submit(write)
        started.wait()
        closing = threads.submit(database.close)
        may_continue.set()
        writing.result()
        closing.result()
    assert count(open_database("quota")) == 1


def test_files_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    database = Database(tmp_path, "directory")
    with database.transaction() as connection:
        connection.execute("INSERT INTO change (kind, mcp_id, total) VALUES ('added', 'x', 1)")
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    database.close()
