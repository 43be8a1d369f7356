"""Storage faults: each is logged once with SQLite's code and the path, until a check succeeds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from directory_server.domain.errors import Unavailable
from directory_server.runtime.run_sync import run_sync
from directory_server.sqlite import DataDirectory, SqliteQuota
from directory_server.sqlite._availability import unavailable

from ..logs import captured_lines


@pytest.fixture
def data(tmp_path: Path) -> Iterator[DataDirectory]:
    data = DataDirectory(tmp_path)
    yield data
    data.close()


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """Return the lines that the databases log from now on."""
    with captured_lines("directory_server.sqlite") as lines:
        yield lines


def set_full(data: DataDirectory, *, full: bool) -> None:
    """Allow this thread's connection to the quota database no more pages, or a million."""
    with data.quota.connection() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages if full else 1_000_000}")


def charge_many(data: DataDirectory) -> None:
    """Write until the database needs another page."""
    quota = SqliteQuota(data.quota, lambda: 1.0)
    for number in range(1_000):
        run_sync(quota.charge(f"key-{number:050}", 10))


def test_a_full_disk_and_its_end_are_logged_once_each(data: DataDirectory, logged: list[str]) -> None:
    set_full(data, full=True)
    for _ in range(3):
        with pytest.raises(Unavailable, match=r"quota\.db cannot be used now: the disk is full\."):
            charge_many(data)
    assert logged == [f"Storage unavailable: {data.quota.path}: the disk is full (SQLITE_FULL)"]
    assert [fault.code for fault in data.availability.faults] == ["SQLITE_FULL"]
    set_full(data, full=False)
    charge_many(data)
    data.check()
    data.check()
    assert data.availability.faults == []
    assert logged[1:] == [f"Storage available again: {data.quota.path} (SQLITE_FULL ended)"]


def test_successful_reads_do_not_end_a_write_fault(data: DataDirectory, logged: list[str]) -> None:
    set_full(data, full=True)
    for _ in range(3):
        with pytest.raises(Unavailable):
            charge_many(data)
        data.check()
    assert len(logged) == 1
    assert data.availability.faults


def test_a_check_detects_a_fault_of_an_unused_database(data: DataDirectory, logged: list[str]) -> None:
    for database in (data.directory, data.quota):
        with database.connection() as connection:
            connection.execute("PRAGMA query_only = ON")
    data.check()
    assert [(fault.path, fault.code) for fault in data.availability.faults] == [(data.quota.path, "SQLITE_READONLY")]
    assert logged == [f"Storage unavailable: {data.quota.path}: the file may not be written to (SQLITE_READONLY)"]


def test_a_check_writes_to_the_quota_database_only(data: DataDirectory) -> None:
    def versions() -> list[int]:
        found = []
        for other in others:
            found.append(other.execute("PRAGMA data_version").fetchone()[0])
        return found

    others = [sqlite3.connect(database.path) for database in (data.directory, data.quota)]
    before = versions()
    data.check()
    assert [now != then for now, then in zip(versions(), before, strict=True)] == [False, True]
    for other in others:
        other.close()


def test_a_corruption_error_also_names_a_failing_disk() -> None:
    # SQLite reports EIO of a read as corruption (os_unix.c, unixRead: SQLITE_IOERR_CORRUPTFS).
    error = sqlite3.DatabaseError("database disk image is malformed")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    assert "or the disk fails to read it" in unavailable(Path("directory.db"), error).message


def test_each_error_code_of_a_fault_is_logged_once(data: DataDirectory, logged: list[str]) -> None:
    fail: Callable[[str], None] = lambda code: data.availability.failed(data.quota.path, code, "it fails")  # noqa: E731
    for code in ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_FULL", "SQLITE_IOERR_WRITE"):
        fail(code)
    assert len(logged) == 2
