"""The data directory: all databases and secrets of one machine, and the regular check that they can be used."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from errno import errorcode
from functools import partial
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from ..domain.errors import NEWER_SCHEMA, Unavailable
from ..domain.ports.runtime import Offload
from ..runtime.files import read_regular_file
from ..runtime.threads import OwnThreads
from ..runtime.timers import Timer
from ._availability import Availability
from ._connection import Synchronous
from ._database import Database, file_identity
from ._transactions import MAX_WAITING, WAIT, TransactionQueue

SIZE = 32
"""Bytes of the secret."""


def session_secret(folder: Path) -> bytes:
    """Return the session secret of the data directory; create it if it does not exist.

    Raises Unavailable if it cannot be read or created, or has the wrong size.
    """
    path = folder / "session.secret"
    try:
        if not path.exists():
            _make(path)
        secret = read_regular_file(path)
    except OSError as error:
        raise Unavailable(f"{path} cannot be read or created: {error.strerror}.") from error
    if len(secret) != SIZE:
        raise Unavailable(
            f"{path} must hold {SIZE} bytes and holds {len(secret)}. Restore it from a backup, or delete it to have "
            "a new one created, which ends every MCP session."
        )
    return secret


def _make(path: Path) -> None:
    # Written to a draft and then linked: no process sees a partial secret, and the first link wins.
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(SIZE))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()


_LATE = f"transactions wait for a lock or the disk for more than {WAIT:g} second"


class DataDirectoryLost(Exception):
    """A file of the data directory was deleted, replaced or upgraded while the process has it open."""


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
        self._threads: list[OwnThreads] = []

    def serve(self, reactor: Any) -> None:
        """Move all waiting for locks and disks out of this thread, the reactor's, until `close`."""
        for database, begin in ((self.directory, self.directory.snapshot), (self.quota, self.quota.transaction)):
            threads = OwnThreads(reactor, 1, MAX_WAITING)
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
            try:
                database.check(write=database is self.quota or database.path in failing)
            except Unavailable as error:
                if error.code == NEWER_SCHEMA:
                    raise DataDirectoryLost(error.message) from None

    def session_secret(self) -> bytes:
        """Return the secret that signs sessions; create it at the first start."""
        return session_secret(self.folder)

    def available(self) -> dict[str, bool]:
        """Return whether each database is usable, by file name."""
        faults = {fault.path for fault in self.availability.faults}
        stalled = self.folder in faults
        paths = (self.directory.path, self.quota.path)
        return {path.name: not stalled and path not in faults for path in paths}

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


INTERVAL = 2.0
"""Seconds between two checks."""

STALLED = 10.0
"""Seconds after which a check that has not ended is a fault: longer than a connection waits for a lock."""


class StorageWatch(Timer):
    """Check `data` every INTERVAL seconds through `offload`; call `lost` with the reason once it was replaced.

    The checks keep `data.availability` up to date. A check that hangs is recorded there, too.
    """

    _log = Logger()

    def __init__(self, data: DataDirectory, offload: Offload, clock: IReactorTime, lost: Callable[[str], None]) -> None:
        super().__init__(INTERVAL, self._check, clock)
        self._data = data
        self._offload = offload
        self._clock = clock
        self._lost = lost
        self._began: float | None = None

    def _check(self) -> None:
        if self._began is None:
            self._began = self._clock.seconds()
            Deferred.fromCoroutine(self._checked()).addErrback(self._check_failed)
        elif self._clock.seconds() - self._began >= STALLED:
            reason = f"the storage has not answered for {STALLED:g} seconds"
            self._data.availability.failed(self._data.folder, "TIMEOUT", reason)

    async def _checked(self) -> None:
        try:
            await self._offload(self._data.check)
            self._data.availability.checked(self._data.folder)
        finally:
            self._began = None

    def _check_failed(self, failure: Failure) -> None:
        if not self.running:
            return
        if not failure.check(DataDirectoryLost):
            self._log.failure("The data directory could not be checked", failure=failure)
            return
        self.stopService()
        self._lost(str(failure.value))
