"""The data directory: everything that one machine keeps."""

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
    """A file of the data directory was deleted or replaced under the process that has it open."""


class DataDirectory:
    """The files of a data directory.

    The quota has a database of its own, so that no import makes a charge wait. `synchronous` is what spent quota
    outlives: `normal` the death of the process, `full` the loss of power too, for a few milliseconds a charge.
    Entries and keys, written seldom, always outlive both: no revoked key comes back. Raises Unavailable.
    """

    def __init__(self, folder: Path, *, synchronous: Synchronous = "normal") -> None:
        self.folder = folder
        self.availability = Availability()
        self.directory = Database(folder, "directory", synchronous="full", availability=self.availability)
        # A server copies the log of the quota in a thread of its own.
        self.quota = Database(
            folder, "quota", synchronous=synchronous, availability=self.availability, autocheckpoint=False
        )
        self._threads: list[Threads] = []

    def serve(self, reactor: Any) -> None:
        """Make nothing wait for locks or disks in this thread, the reactor's, from now on until `close`."""
        for database, begin in ((self.directory, self.directory.snapshot), (self.quota, self.quota.transaction)):
            threads = Threads(reactor, 1, MAX_WAITING)
            self._threads.append(threads)
            late = partial(self.availability.failed, database.path, "TIMEOUT", _LATE)
            database.queue = TransactionQueue(database.path.name, begin, reactor, threads, late)
        # The first commit into an empty log syncs it.
        with suppress(Unavailable):
            self.quota.checkpoint()

    def check(self) -> None:
        """Check that the databases can be used, and note and log what has changed. Raises DataDirectoryLost.

        The quota's is written to. Entries and keys are only read, for a commit there wakes every process, unless
        writing has failed: a success must then be one of writing, too.
        """
        for database in (self.directory, self.quota):
            self._check_identity(database)
        failing = {fault.path for fault in self.availability.faults}
        for database in (self.directory, self.quota):
            with suppress(Unavailable):
                database.check(write=database is self.quota or database.path in failing)

    def session_secret(self) -> bytes:
        """Return the secret that signs sessions, making it at the first start."""
        return session_secret(self.folder)

    def available(self) -> dict[str, bool]:
        """Return for each database, by the name of its file, whether it can be used."""
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
        """Close the databases, once what their threads do is done."""
        for database in (self.directory, self.quota):
            if database.queue is not None:
                database.queue.stop()
        for threads in self._threads:
            threads.stop()
        self.directory.close()
        self.quota.close()
