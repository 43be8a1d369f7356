"""Storage availability: SQLite's errors as Unavailable, and one log line for each change."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen
from twisted.logger import Logger

from ..domain.errors import Unavailable

BUSY_TIMEOUT = 5.0
"""Default seconds to wait for the lock of another connection."""

_REASONS = {
    sqlite3.SQLITE_BUSY: "another process has held its lock for too long",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened",
    # unixRead() of SQLite reports EIO by the code of a damaged file.
    sqlite3.SQLITE_CORRUPT: (
        "the file is damaged, or the disk fails to read it; look for read errors in the kernel's log, and check the "
        "file with 'PRAGMA integrity_check', before you restore a backup"
    ),
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written",
    sqlite3.SQLITE_NOTADB: "the file is not an SQLite database",
    sqlite3.SQLITE_READONLY: "the file may not be written to",
    # SQLite first extends the index of the log (-shm) after a start, and has no SQLITE_FULL for it.
    sqlite3.SQLITE_IOERR_SHMSIZE: "the disk is full, or cannot be written",
}

PRIMARY = 0xFF
"""The bits of an extended SQLite result code that hold the primary one (sqlite.org/rescode.html)."""


def unavailable(path: Path, error: sqlite3.DatabaseError) -> Unavailable:
    """Return the Unavailable for `error`, which SQLite raised for the file at `path`."""
    return Unavailable(f"{path.name} cannot be used now: {_reason(error)}.")


def _reason(error: sqlite3.DatabaseError) -> str:
    code = getattr(error, "sqlite_errorcode", 0)
    return _REASONS.get(code) or _REASONS.get(code & PRIMARY, str(error))


@frozen
class Fault:
    """A reason why a file cannot be used; `code` is the name of SQLite's extended result code."""

    path: Path
    code: str
    reason: str


class Availability:
    """The faults of the files of a data directory. Any thread may call it.

    A fault begins with the first error, which is logged; further errors with the same code are not. It ends with a
    check that succeeds when no error has come since the check before: with a full disk reads succeed and
    writes fail, so a single success proves nothing.
    """

    _log = Logger()

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: dict[tuple[Path, str], Fault] = {}
        self._recent: set[Path] = set()

    @property
    def faults(self) -> Sequence[Fault]:
        """The current faults, in the order in which they began."""
        with self._lock:
            return list(self._faults.values())

    def failed(self, path: Path, code: str, reason: str) -> None:
        """Record an error of the file at `path`; log it if it is the first with this `code`."""
        fault = Fault(path, code, reason)
        with self._lock:
            self._recent.add(path)
            known = (path, code) in self._faults
            self._faults[path, code] = fault
        if not known:
            self._log.error("Storage unavailable: {path}: {reason} ({code})", path=str(path), reason=reason, code=code)

    def raised(self, path: Path, error: sqlite3.DatabaseError) -> Unavailable:
        """Record an error that SQLite raised for the file at `path`; return the Unavailable to raise instead."""
        self.failed(path, getattr(error, "sqlite_errorname", type(error).__name__), _reason(error))
        return unavailable(path, error)

    def checked(self, path: Path) -> None:
        """Record a successful check of the file at `path`; end its faults if no error came since the last."""
        with self._lock:
            if path in self._recent:
                self._recent.discard(path)
                return
            ended = [key for key in self._faults if key[0] == path]
            for key in ended:
                del self._faults[key]
        if ended:
            codes = ", ".join(code for _, code in ended)
            self._log.info("Storage available again: {path} ({codes} ended)", path=str(path), codes=codes)
