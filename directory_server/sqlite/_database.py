"""One SQLite file, shared by threads and processes of one machine."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from ..domain.errors import Unavailable
from ..domain.ports.storage import Policy
from ._availability import BUSY_TIMEOUT, Availability
from ._connection import Connection, Synchronous, is_busy, locked
from ._migrations import missing, upgrade

if TYPE_CHECKING:
    from ._transactions import TransactionQueue

T = TypeVar("T")

OLDEST_SQLITE = (3, 37, 0)
"""The oldest supported SQLite: the first with STRICT tables."""

_LARGE_LOG = 10_000
"""Pages in the write-ahead log from which a checkpoint makes writers wait, to bound the size of the log."""

Schema = Literal["directory", "quota", "statistics"]


class _Local(threading.local):
    connection: Connection | None = None


class Database:
    """A SQLite file in the data directory, brought to this version's schema, with a connection for each thread.

    `synchronous` is the durability of commits: `normal` survives a process crash, `full` also survives power loss.
    Without `autocheckpoint`, only `checkpoint` copies the write-ahead log. The constructor opens, upgrades and closes
    the file; each thread opens it again at its first use. twistd forks after the service is created, and an SQLite
    connection must not be used across a fork. Raises Unavailable.

    `wait` is the seconds to wait for the lock of another connection, by default BUSY_TIMEOUT. The reactor's thread must
    pass 0.
    """

    queue: TransactionQueue | None = None
    """The queue for work that would block the reactor's thread; None if any thread may block."""

    policy: Policy | None = None
    """The rules that hide entries."""

    def __init__(
        self,
        folder: Path,
        schema: Schema,
        *,
        synchronous: Synchronous = "normal",
        availability: Availability | None = None,
        autocheckpoint: bool = True,
    ) -> None:
        self.path = folder / f"{schema}.db"
        self._schema = schema
        self.availability = availability or Availability()
        self.synchronous = synchronous
        self._autocheckpoint = autocheckpoint
        self._local = _Local()
        self._connections: list[Connection] = []
        self._opening = threading.Lock()
        self._closed = False
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            needed = ".".join(map(str, OLDEST_SQLITE))
            raise Unavailable(f"SQLite {needed} or newer is needed; this Python has {sqlite3.sqlite_version}.")
        with _exclusive(self.path), closing(self._connect(BUSY_TIMEOUT)) as connection, connection as sqlite:
            sqlite.execute("PRAGMA journal_mode = WAL")
            upgrade(sqlite, self.path, schema)
            self.identity = file_identity(self.path)

    def connection(self, *, wait: float | None = None) -> AbstractContextManager[sqlite3.Connection]:
        """Return this thread's connection as a context manager. SQLite errors in the block become Unavailable."""
        seconds = BUSY_TIMEOUT if wait is None else wait
        return (self._local.connection or self._open(seconds)).waiting(seconds)

    def transaction(self, *, wait: float | None = None) -> AbstractContextManager[sqlite3.Connection]:
        """Return this thread's connection in a write transaction, which is committed at the end of the block.

        Raises Unavailable if it cannot begin or commit. Any error rolls back the transaction.
        """
        return self._begun("BEGIN IMMEDIATE", wait)

    def write(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Return the result of `function(connection)` in a write transaction. Suitable for an Offload."""
        with self.transaction() as connection:
            return function(connection)

    async def read(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Return the result of `function(connection)` without blocking the reactor's thread for a lock.

        The function is called at once and, if the file is locked, again in the queue. Raises Unavailable.
        """
        if self.queue is None:
            with self.connection() as connection:
                return function(connection)
        try:
            with self.connection(wait=0) as connection:
                return function(connection)
        except Unavailable as error:
            if not is_busy(error):
                raise
        return await self.queue.submit(function)

    def snapshot(self, *, wait: float | None = None) -> AbstractContextManager[sqlite3.Connection]:
        """Return this thread's connection in a read transaction with a constant snapshot."""
        return self._begun("BEGIN", wait)

    def check(self, *, write: bool) -> None:
        """Read the file, or `write` an unchanged page of it, and record the outcome. Raises Unavailable."""
        with self.transaction() if write else self.connection() as connection:
            missing(connection, self.path, self._schema)
            if write:
                # Setting a field of the header writes its page, whatever the value.
                (number,) = connection.execute("PRAGMA application_id").fetchone()
                connection.execute(f"PRAGMA application_id = {number:d}")
        self.availability.checked(self.path)

    def checkpoint(self) -> None:
        """Copy the write-ahead log into the file and restart the log, so that no other thread has to.

        Both steps sync files to the disk. The first commit after a complete copy restarts the log. An open reader
        prevents other connections from doing so before this thread. Raises Unavailable if another connection writes
        meanwhile; the log then continues.
        """
        with closing(self._connect(0)) as other, other as reader, self.connection(wait=0) as connection:
            reader.execute("BEGIN")
            (version,) = reader.execute("PRAGMA user_version").fetchone()
            (_, pages, _) = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if pages > _LARGE_LOG:
                reader.execute("COMMIT")
                connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
            connection.execute("BEGIN IMMEDIATE")
            if reader.in_transaction:
                reader.execute("COMMIT")
            # Any write restarts the log; this one changes nothing.
            connection.execute(f"PRAGMA user_version = {version}")
            connection.execute("COMMIT")

    def close(self) -> None:
        """Close the connections of all threads after their current use."""
        with self._opening:
            self._closed = True
        for connection in self._connections:
            connection.close()

    @contextmanager
    def _begun(self, begin: str, wait: float | None) -> Iterator[sqlite3.Connection]:
        with self.connection(wait=wait) as sqlite:
            sqlite.execute(begin)
            try:
                yield sqlite
                sqlite.execute("COMMIT")
            except BaseException:
                # SQLite may already have rolled back, for example on a full disk.
                if sqlite.in_transaction:
                    sqlite.execute("ROLLBACK")
                raise

    def _open(self, wait: float) -> Connection:
        # Opening may block on locks, so it must not hold the lock of this object.
        connection = self._connect(wait)
        with self._opening:
            if self._closed:
                connection.close()
                raise Unavailable(f"{self.path.name} is closed.")
            self._connections.append(connection)
        self._local.connection = connection
        return connection

    def _connect(self, wait: float) -> Connection:
        return Connection(self.path, self.synchronous, self.availability, self._autocheckpoint, wait)


def file_identity(path: Path) -> tuple[int, int]:
    """Return device and inode of the file at `path`. Raises OSError."""
    status = path.stat()
    return status.st_dev, status.st_ino


def data_version(connection: sqlite3.Connection) -> int:
    """Return a number that differs after any other connection's commit (sqlite.org/pragma.html#pragma_data_version)."""
    (version,) = connection.execute("PRAGMA data_version").fetchone()
    return int(version)


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    """Lock the folder of the file at `path` against other starting processes; create both if missing."""
    folder = path.parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"The data directory cannot be created: {error.strerror}.") from error
    # SQLite's locks are not enough: of two concurrent switches to WAL, one fails without waiting.
    with locked(folder):
        try:
            _create(path)
        except OSError as error:
            raise Unavailable(f"The data directory cannot be written: {error.strerror}.") from error
        yield


def _create(path: Path) -> None:
    """Create the file at `path` if it is missing. Raises Unavailable if it has lost its content, and OSError."""
    if not path.exists():
        # SQLite would create a file that others can read; it copies the mode to its auxiliary files.
        path.touch(mode=0o600)
    elif not path.stat().st_size:
        # SQLite would take it for a new database, without keys, entries or spent quota.
        others = [other for other in path.parent.glob("*.db*") if other != path and other.stat().st_size]
        if others:
            names = ", ".join(sorted(other.name for other in others))
            raise Unavailable(
                f"{path} is empty (0 bytes) beside {names}: its content is lost. Restore the data directory from a "
                "backup, or delete the file to begin with a new one."
            )
