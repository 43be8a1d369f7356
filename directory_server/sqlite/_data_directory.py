"""The data directory: all databases and secrets of one machine."""

from __future__ import annotations

from contextlib import suppress
from errno import errorcode
from functools import partial
from pathlib import Path
from typing import Any

from ..domain.errors import Unavailable
from ._availability import Availability
from ._connection import Synchronous
from ._database import Database, file_identity
from ._session_secret import session_secret
from ._threads import Threads
from ._transactions import MAX_WAITING, WAIT, TransactionQueue

_LATE = f"transactions wait for a lock or the disk for more than {WAIT:g} second"


class DataDirectoryLost(Exception):
    """A file of the data directory was deleted or replaced while the process has it open."""


class DataDirectory:
    """The files of a data directory.

    The quota has its own database, so that imports do not block charges. `synchronous` is the durability of charges:
    `normal` survives a process crash, `full` also survives power loss and costs a few milliseconds per charge. Commits
    of entries and keys always survive both, so a revoked key stays revoked. Raises Unavailable.
    """

    def __init__(self, folder: Path, *, synchronous: Synchronous = "normal") -> None:
        self.folder = folder
        self.availability = Availability()
        self.directory = Database(folder, "directory", synchronous="full", availability=self.availability)
        # A server checkpoints the quota database in a separate thread.
        self.quota = Database(
            folder, "quota", synchronous=synchronous, availability=self.availability, autocheckpoint=False
        )
        self._threads: list[Threads] = []

    def serve(self, reactor: Any) -> None:
        """Move all waiting for locks and disks out of this thread, the reactor's, until `close`."""
        for database, begin in ((self.directory, self.directory.snapshot), (self.quota, self.quota.transaction)):
            threads = Threads(reactor, 1, MAX_WAITING)
            self._threads.append(threads)
            late = partial(self.availability.failed, database.path, "TIMEOUT", _LATE)
            database.queue = TransactionQueue(database.path.name, begin, reactor, threads, late)
        # The first commit to an empty write-ahead log syncs it.
        with suppress(Unavailable):
            self.quota.checkpoint()

    def check(self) -> None:
        """Check that the databases are usable; record and log changes. Raises DataDirectoryLost.

        The quota database is written to. The other one is only read, because a commit there wakes every process. After
        a failed write it is written to as well, since only a successful write ends the fault.
        """
        for database in (self.directory, self.quota):
            self._check_identity(database)
        failing = {fault.path for fault in self.availability.faults}
        for database in (self.directory, self.quota):
            with suppress(Unavailable):
                database.check(write=database is self.quota or database.path in failing)

    def session_secret(self) -> bytes:
        """Return the secret that signs sessions; create it at the first start."""
        return session_secret(self.folder)

    def available(self) -> dict[str, bool]:
        """Return whether each database is usable, by file name."""
        faults = {fault.path for fault in self.availability.faults}
        stalled = self.folder in faults
        return {each.path.name: not stalled and each.path not in faults for each in (self.directory, self.quota)}

    def _check_identity(self, database: Database) -> None:
        """Raise DataDirectoryLost unless the path of `database` still names the file that was opened."""
        path = database.path
        try:
            identity = file_identity(path)
        except (FileNotFoundError, NotADirectoryError):
            raise DataDirectoryLost(f"{path} has been deleted or moved.") from None
        except OSError as error:
            code = errorcode.get(error.errno or 0, type(error).__name__)
            self.availability.failed(path, code, f"the file cannot be looked up: {error.strerror}")
            return
        if identity != database.identity:
            raise DataDirectoryLost(f"{path} has been replaced by another file.")

    def close(self) -> None:
        """Close the databases after their threads have finished."""
        for database in (self.directory, self.quota):
            if database.queue is not None:
                database.queue.stop()
        for threads in self._threads:
            threads.stop()
        self.directory.close()
        self.quota.close()
