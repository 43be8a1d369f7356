"""Availability of the database: errors of the driver as Unavailable, and one log line for each change."""

from __future__ import annotations

import threading
from collections.abc import Callable

import psycopg
from twisted.logger import Logger

from ..domain.errors import Unavailable

DEADLOCK, CONFLICT = "40P01", "40001"
"""SQLSTATEs of transactions that may succeed when they are tried again."""

_NO_ANSWER = "it does not respond"

_REASONS = {
    "08": _NO_ANSWER,
    "25006": "it is read-only, as a standby is",
    # The PREPARE before it failed, or a pooler gave the connection to others.
    "26": "it has not prepared the statement",
    DEADLOCK: "transactions block each other",
    CONFLICT: "transactions conflict",
    "53": "it has no memory, disk space or connections left",
    "53100": "its disk is full",
    "53300": "it has too many connections",
    "55P03": "another process has held a lock for too long",
    "57": "it has ended the statement",
    "57P01": "it is shutting down",
    "57P02": "it is recovering from a crash",
    "57P03": "it is starting or shutting down",
    "58": "its server has a system error",
}
"""Reasons by SQLSTATE or its class (PostgreSQL, appendix A)."""

_OF_ONE_STATEMENT = ("26", DEADLOCK, CONFLICT, "55P03", "57014")
"""SQLSTATEs and classes that say nothing about other statements."""

_OF_WRITES = ("25006", "53", "58")
"""SQLSTATEs and classes of faults with which reads may succeed."""


def reason(error: psycopg.Error) -> str | None:
    """Return why the database cannot be used now; None for an error of another kind, such as wrong SQL."""
    code = error.sqlstate
    if code is None:
        # The driver lost the connection, or has never had one.
        return _NO_ANSWER if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) else None
    return _REASONS.get(code) or _REASONS.get(code[:2])


class Availability:
    """Whether the database can be used. Any thread may call it.

    `secret` is masked in log lines. `now`, in seconds since the epoch, dates faults. A fault is logged when it begins
    with another `reason` than before, and when it ends. Writes end every fault. Reads and new connections do not end a
    fault of writes, because a database with a full disk still answers reads. Errors that concern one statement, such as
    a conflict, are no faults.
    """

    _log = Logger()

    def __init__(self, secret: str = "", now: Callable[[], float] | None = None) -> None:
        self._secret = secret
        self._now = now
        self._lock = threading.Lock()
        self.fault: str | None = None
        """Why the database cannot be used, None if it can."""
        self.since: float | None = None
        """When the database became unavailable, in seconds since the epoch; None if it is available."""
        self._is_of_writes = False

    def raised(self, error: psycopg.Error) -> Unavailable | None:
        """Return the Unavailable to raise instead of `error`, and record the fault; None for another kind of error."""
        why = reason(error)
        if why is None:
            return None
        code = error.sqlstate or ""
        if not code.startswith(_OF_ONE_STATEMENT):
            self.failed(why, str(error), is_of_writes=code.startswith(_OF_WRITES))
        return Unavailable(f"The database cannot be used now: {why}.")

    def failed(self, why: str, detail: str, *, is_of_writes: bool = False) -> None:
        """Record a fault; log it with the driver's `detail` if it is another one than the current fault."""
        with self._lock:
            if self.fault is None and self._now is not None:
                self.since = self._now()
            is_new, self.fault, self._is_of_writes = self.fault != why, why, is_of_writes
        if is_new:
            if self._secret:
                detail = detail.replace(self._secret, "…")
            self._log.error("Database unavailable: {reason} ({detail})", reason=why, detail=" ".join(detail.split()))

    def succeeded(self, *, wrote: bool) -> None:
        """Record a transaction that succeeded; `wrote` is whether it may have written."""
        if self.fault is None or (self._is_of_writes and not wrote):
            return
        with self._lock:
            ended, self.fault, self.since = self.fault, None, None
        if ended is not None:
            self._log.info("Database available again ({reason} ended)", reason=ended)
