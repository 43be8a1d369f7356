"""A connection to SQLite whose errors are reported as Unavailable, and the lock of a data directory."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from ..domain.errors import Unavailable
from ._availability import PRIMARY, Availability, unavailable

_PROGRAMMING_ERRORS = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.DataError)
"""SQLite errors that are caused by the program, not by the file."""

Synchronous = Literal["normal", "full"]


class Connection:
    """A thread's connection, used in a `with` block: `close` waits for its end; SQLite errors become Unavailable.

    `wait` is the number of seconds to wait for another connection's lock; with 0, a lock is not a storage fault.
    """

    def __init__(
        self, path: Path, synchronous: Synchronous, availability: Availability, autocheckpoint: bool, wait: float
    ) -> None:
        self._path = path
        self._availability = availability
        self._used = threading.RLock()
        self._closed = False
        self._wait = wait
        try:
            self._sqlite = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
        except sqlite3.OperationalError as error:
            raise availability.raised(path, error) from error
        try:
            with self as sqlite:
                sqlite.execute(f"PRAGMA synchronous = {synchronous}")
                sqlite.execute("PRAGMA foreign_keys = ON")
                if not autocheckpoint:
                    sqlite.execute("PRAGMA wal_autocheckpoint = 0")
        except Unavailable:
            self.close()
            raise

    def __enter__(self) -> sqlite3.Connection:
        self._used.acquire()
        if self._closed:
            self._used.release()
            raise Unavailable(f"{self._path.name} is closed.")
        return self._sqlite

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self._used.release()
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, _PROGRAMMING_ERRORS):
            if not self._wait and _is_busy(error):
                raise unavailable(self._path, error) from error
            raise self._availability.raised(self._path, error) from error

    def waiting(self, seconds: float) -> Connection:
        """Return this connection with a lock timeout of `seconds`."""
        if seconds != self._wait:
            with self as sqlite:
                sqlite.execute(f"PRAGMA busy_timeout = {round(seconds * 1000)}")
            self._wait = seconds
        return self

    def close(self) -> None:
        with self._used:
            self._closed = True
            self._sqlite.close()


def is_busy(error: Unavailable) -> bool:
    """Return whether `error` was caused by the lock of another connection."""
    return isinstance(error.__cause__, sqlite3.DatabaseError) and _is_busy(error.__cause__)


def _is_busy(error: sqlite3.DatabaseError) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & PRIMARY in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


TIMEOUT = 10.0
"""Seconds to wait for another process that holds the lock."""

_INTERVAL = 0.05
"""Seconds between two attempts."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock `folder` against other processes. Raises Unavailable if another one holds the lock for TIMEOUT."""
    try:
        held = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise Unavailable(f"The data directory cannot be opened: {error.strerror}.") from error
    try:
        _lock(held, folder)
        yield
    finally:
        os.close(held)


def _lock(held: int, folder: Path) -> None:
    """Lock the open folder `held` (flock(2))."""
    pause = threading.Event()
    for _ in range(max(round(TIMEOUT / _INTERVAL), 1)):
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pause.wait(_INTERVAL)
        else:
            return
    raise Unavailable(
        f"another process has locked {folder} for more than {TIMEOUT:g} seconds. A process that upgrades the data "
        f"directory does so; any other should be ended. 'lsof {folder}' lists the processes."
    )
