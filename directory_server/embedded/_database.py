"""One SQLite file, shared by the threads of a process and by the processes of a machine."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Literal, TypeVar

from ..errors import Unavailable
from ._availability import BUSY_TIMEOUT, Availability

T = TypeVar("T")

OLDEST_SQLITE = (3, 37, 0)
"""The first SQLite with STRICT tables."""

_OUR_MISTAKES = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.DataError)
"""What SQLite raises about the program rather than about the file."""

Schema = Literal["directory", "quota"]
Synchronous = Literal["normal", "full"]


class _Connection:
    """A thread's connection, used in a `with`: closing it waits for the end, and SQLite's errors become Unavailable."""

    def __init__(self, path: Path, synchronous: Synchronous, availability: Availability) -> None:
        self._path = path
        self._availability = availability
        self._used = threading.RLock()
        self._closed = False
        try:
            self._sqlite = sqlite3.connect(path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
        except sqlite3.OperationalError as error:
            raise availability.raised(path, error) from error
        try:
            with self as sqlite:
                sqlite.execute(f"PRAGMA synchronous = {synchronous}")
                sqlite.execute("PRAGMA foreign_keys = ON")
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
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, _OUR_MISTAKES):
            raise self._availability.raised(self._path, error) from error

    def close(self) -> None:
        with self._used:
            self._closed = True
            self._sqlite.close()


class _Local(threading.local):
    connection: _Connection | None = None


class Database:
    """A SQLite file in the data directory, brought to this version's schema, with a connection for each thread.

    `synchronous` is what a commit survives: `normal` the death of the process, `full` the loss of power too. The
    file is opened, upgraded and closed here, then opened again by the first use of each thread: twistd forks between
    the making of the service and the reactor, and no SQLite connection may cross a fork. Raises Unavailable.
    """

    def __init__(
        self,
        folder: Path,
        schema: Schema,
        *,
        synchronous: Synchronous = "normal",
        availability: Availability | None = None,
    ) -> None:
        self.path = folder / f"{schema}.db"
        self.availability = availability or Availability()
        self._synchronous = synchronous
        self._local = _Local()
        self._connections: list[_Connection] = []
        self._opening = threading.Lock()
        self._closed = False
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            needed = ".".join(map(str, OLDEST_SQLITE))
            raise Unavailable(f"SQLite {needed} or newer is needed; this Python has {sqlite3.sqlite_version}.")
        with _alone(self.path), closing(self._connect()) as connection, connection as sqlite:
            sqlite.execute("PRAGMA journal_mode = WAL")
            _upgrade(sqlite, self.path, schema)
            self.identity = file_identity(self.path)

    def connection(self) -> AbstractContextManager[sqlite3.Connection]:
        """Lend this thread's connection. What SQLite cannot do leaves the `with` as Unavailable."""
        return self._local.connection or self._open()

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """Lend this thread's connection in a transaction that may write, committed at the end.

        Raises Unavailable, and writes nothing, where it cannot begin or be committed; so does any error inside.
        """
        return self._begun("BEGIN IMMEDIATE")

    def write(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `function` makes of a connection in a transaction: what an Offload can be given."""
        with self.transaction() as connection:
            return function(connection)

    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        """Lend this thread's connection in a transaction that reads, to which nobody writes meanwhile."""
        return self._begun("BEGIN")

    def check(self, *, write: bool) -> None:
        """Read the file, or `write` a page of it as it is, and note the outcome. Raises Unavailable."""
        if write:
            with self.transaction() as connection:
                # Setting a field of the header writes its page, whatever the value.
                (number,) = connection.execute("PRAGMA application_id").fetchone()
                connection.execute(f"PRAGMA application_id = {number:d}")
        else:
            with self.connection() as connection:
                connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        self.availability.checked(self.path)

    def close(self) -> None:
        """Close every thread's connection, once what it does at the moment is done."""
        with self._opening:
            self._closed = True
        for connection in self._connections:
            connection.close()

    @contextmanager
    def _begun(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self.connection() as connection:
            connection.execute(begin)
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # A full disk may have made SQLite roll back by itself.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _open(self) -> _Connection:
        with self._opening:
            if self._closed:
                raise Unavailable(f"{self.path.name} is closed.")
            connection = self._connect()
            self._connections.append(connection)
        self._local.connection = connection
        return connection

    def _connect(self) -> _Connection:
        return _Connection(self.path, self._synchronous, self.availability)


def file_identity(path: Path) -> tuple[int, int]:
    """Return device and inode of the file at `path`. Raises OSError."""
    found = path.stat()
    return found.st_dev, found.st_ino


def data_version(connection: sqlite3.Connection) -> int:
    """Return a number that differs after any other connection's commit (sqlite.org/pragma.html#pragma_data_version)."""
    (version,) = connection.execute("PRAGMA data_version").fetchone()
    return int(version)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the folder of the file at `path` against other processes that start at the same time; make both."""
    folder = path.parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            # SQLite would let others read it, and gives its mode to the files that it puts beside it.
            path.touch(mode=0o600)
        held = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise Unavailable(f"{folder}: the data directory cannot be made or read: {error.strerror}.") from error
    try:
        # SQLite's own locks do not do: of two that turn a file to WAL at once, one fails without waiting.
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _upgrade(connection: sqlite3.Connection, path: Path, schema: Schema) -> None:
    """Run the packaged steps that the file has not seen; step n brings it to `user_version` n."""
    steps = sorted(
        (step for step in files(__package__).joinpath("schema", schema).iterdir() if step.name.endswith(".sql")),
        key=lambda step: step.name,
    )
    connection.execute("BEGIN IMMEDIATE")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(steps):
        raise Unavailable(
            f"{path} was written by a newer version of the directory server: its schema is number {version}, "
            f"this version knows {len(steps)}. Install the newer version or choose another data directory."
        )
    for number, step in enumerate(steps[version:], version + 1):
        for statement in _statements(step.read_text("utf-8")):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number}")
    connection.execute("COMMIT")


def _statements(script: str) -> Iterator[str]:
    # executescript() would commit first and so drop the lock.
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
