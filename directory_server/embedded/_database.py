"""One SQLite file, shared by the threads of a process and by the processes of a machine."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Literal

from attrs import field, frozen

from ..errors import Unavailable

BUSY_TIMEOUT = 5.0
"""Seconds to wait for another connection's lock."""

OLDEST_SQLITE = (3, 37, 0)
"""The first SQLite with STRICT tables."""

_REASONS = {
    sqlite3.SQLITE_BUSY: f"another process has held its lock for more than {BUSY_TIMEOUT:g} seconds",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; restore it from a backup",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written",
    sqlite3.SQLITE_NOTADB: "the file is not an SQLite database",
    sqlite3.SQLITE_READONLY: "the file may not be written to",
}
_PRIMARY = 0xFF
"""The bits of an extended SQLite result code that hold the primary one (sqlite.org/rescode.html)."""

Schema = Literal["directory", "quota"]
Synchronous = Literal["normal", "full"]


@frozen
class _Lent:
    """A thread's connection; the lock is held while it is used, so that closing it waits for that."""

    connection: sqlite3.Connection
    lock: threading.RLock = field(factory=threading.RLock)


class _Local(threading.local):
    lent: _Lent | None = None


class Database:
    """A SQLite file in the data directory, brought to this version's schema, with a connection for each thread.

    `synchronous` is what a commit survives: `normal` the death of the process, `full` the loss of power too. The
    file is opened, upgraded and closed here, then opened again by the first use of each thread: twistd forks between
    the making of the service and the reactor, and no SQLite connection may cross a fork. Raises Unavailable.
    """

    def __init__(self, folder: Path, schema: Schema, *, synchronous: Synchronous = "normal") -> None:
        self.path = folder / f"{schema}.db"
        self._synchronous = synchronous
        self._local = _Local()
        self._lent: list[_Lent] = []
        self._opening = threading.Lock()
        self._closed = False
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            needed = ".".join(map(str, OLDEST_SQLITE))
            raise Unavailable(f"SQLite {needed} or newer is needed; this Python has {sqlite3.sqlite_version}.")
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Unavailable(f"{folder}: the data directory cannot be made: {error.strerror}.") from error
        with _unavailable(self.path), closing(self._connect()) as connection:
            _upgrade(connection, self.path, schema)

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Lend this thread's connection. What SQLite cannot do leaves as Unavailable."""
        with _unavailable(self.path):
            lent = self._local.lent or self._lend()
            with lent.lock:
                if self._closed:
                    raise Unavailable(f"{self.path.name} is closed.")
                yield lent.connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Lend this thread's connection in a transaction that may write, committed at the end.

        Raises Unavailable, and writes nothing, where it cannot begin or be committed; so does any error inside.
        """
        with self.connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # A full disk may have made SQLite roll back by itself.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close every thread's connection, once what it does at the moment is done."""
        self._closed = True
        with self._opening:
            lent, self._lent = self._lent, []
        for each in lent:
            with each.lock:
                each.connection.close()

    def _lend(self) -> _Lent:
        lent = _Lent(self._connect())
        with self._opening:
            self._lent.append(lent)
        self._local.lent = lent
        return lent

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            connection.execute("PRAGMA foreign_keys = ON")
        except sqlite3.Error:
            connection.close()
            raise
        return connection


@contextmanager
def _unavailable(path: Path) -> Iterator[None]:
    """Raise Unavailable, in words for people, for what SQLite raises about the file rather than about our SQL."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        reason = _REASONS.get(getattr(error, "sqlite_errorcode", 0) & _PRIMARY)
        if reason is None and not isinstance(error, sqlite3.OperationalError):
            raise
        raise Unavailable(f"{path.name} cannot be used now: {reason or error}.") from error


def _upgrade(connection: sqlite3.Connection, path: Path, schema: Schema) -> None:
    """Run the packaged steps that the file has not seen; step n brings it to `user_version` n."""
    steps = sorted(
        (step for step in files(__package__).joinpath("schema", schema).iterdir() if step.name.endswith(".sql")),
        key=lambda step: step.name,
    )
    # Several processes may start at once: whoever gets the lock first does the work, the others find it done.
    connection.execute("BEGIN IMMEDIATE")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(steps):
        raise Unavailable(
            f"{path} was written by a newer version of the directory server: its schema is number {version}, "
            f"this version knows {len(steps)}. Install the newer version or choose another data directory."
        )
    for step in steps[version:]:
        for statement in _statements(step.read_text("utf-8")):
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(steps)}")
    connection.execute("COMMIT")


def _statements(script: str) -> Iterator[str]:
    # executescript() would commit first and so drop the lock.
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
