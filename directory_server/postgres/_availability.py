"""Availability of the database: errors of the driver as Unavailable, and one log line for each change."""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import Flag, auto

import psycopg
from twisted.logger import Logger

from ..domain.errors import Unavailable

DEADLOCK, CONFLICT = "40P01", "40001"
"""SQLSTATEs of transactions that may succeed when they are tried again."""

REPEAT = 60.0
"""Seconds without a log line about rejected statements after one with the same reason."""

_NO_ANSWER = "it does not respond"

_OTHER_SCHEMA = "it lacks tables of this version; run 'directory-server database upgrade'"

_REASONS = {
    "08": _NO_ANSWER,
    "25006": "it is read-only, as a standby is",
    # A pooler gave the connection to others.
    "26": "it has not prepared the statement",
    DEADLOCK: "transactions block each other",
    CONFLICT: "transactions conflict",
    "42501": "the role lacks rights on its tables",
    "42703": _OTHER_SCHEMA,
    "42883": _OTHER_SCHEMA,
    "42P01": _OTHER_SCHEMA,
    "53": "it has no memory, disk space or connections left",
    "53100": "its disk is full",
    "53300": "it has too many connections",
    "55P03": "another process has held a lock for too long",
    "57": "it has ended the statement",
    "57P01": "it is shutting down",
    "57P02": "it is recovering from a crash",
    "57P03": "it is starting or shutting down",
    "58": "its server has a system error",
    "XX": "its server has an internal error or damaged data",
}
"""Reasons by SQLSTATE or its class (PostgreSQL, appendix A)."""

_OF_ONE_RUN = ("26", DEADLOCK, CONFLICT)
"""SQLSTATEs and classes that say nothing about the next statement."""

_OF_A_WAIT = ("55P03", "57014")
"""SQLSTATEs of statements that waited too long, which says nothing about statements on other tables."""

_OF_A_TABLE = ("42", "XX")
"""Classes of statements that fail until an operator acts, while those on other tables may succeed."""

_OF_WRITES = ("25006", "53", "58")
"""SQLSTATEs and classes of faults with which reads may succeed."""


class Proof(Flag):
    """What a successful statement shows, and what must be shown for a fault to end."""

    ANSWER = auto()
    """The database answers."""
    WRITE = auto()
    """It accepts writes."""
    CHARGE = auto()
    """It charges requests."""
    POLL = auto()
    """It shows the changes of other processes."""


_SHOWN = {
    Proof.ANSWER: Proof.ANSWER,
    Proof.WRITE: Proof.ANSWER | Proof.WRITE,
    Proof.CHARGE: Proof.ANSWER | Proof.WRITE | Proof.CHARGE,
    Proof.POLL: Proof.ANSWER | Proof.POLL,
}
"""What the success of a statement shows besides."""


def reason(error: psycopg.Error) -> str | None:
    """Return why the database cannot be used now; None for an error of another kind, such as wrong SQL."""
    code = error.sqlstate
    if code is None:
        # The driver lost the connection, or has never had one.
        return _NO_ANSWER if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) else None
    return _REASONS.get(code) or _REASONS.get(code[:2])


class Availability:
    """Whether the database can be used: all sessions are open, and no charge failed since the last one. For any thread.

    `secret` is masked in log lines. `now`, in seconds since the epoch, dates faults. A fault is logged when it begins,
    once for each further `reason`, and when it ends. Each failure names what must succeed for the fault to end: after a
    failed charge a charge, because other statements do not need its table, its locks or a commit. Errors that concern
    one statement, such as a conflict, are no faults; those of one table are logged, but not often.
    """

    _log = Logger()

    def __init__(self, secret: str = "", now: Callable[[], float] = lambda: 0.0) -> None:
        self._secret = secret
        self._now = now
        self._lock = threading.Lock()
        self.fault: str | None = None
        """The last reason why the database cannot be used, None if there is none or a session is only not open yet."""
        self.since: float | None = None
        """When the database became unavailable, in seconds since the epoch; None if it is available."""
        self._missing: set[object] = set()
        self._needed = Proof(0)
        self._reasons: set[str] = set()
        self._rejected: dict[str, float] = {}

    def needs(self, proof: Proof) -> bool:
        """Return whether the fault does not end before `proof` is shown."""
        return proof in self._needed

    def raised(self, error: psycopg.Error, proof: Proof = Proof.ANSWER) -> Unavailable | None:
        """Return the Unavailable to raise instead of `error`, and record the fault; None for another kind of error.

        `proof` is what the success of the failed statement would have shown.
        """
        why = reason(error)
        if why is None:
            return None
        code, detail = error.sqlstate or "", error.diag.message_primary or str(error)
        if code.startswith(_OF_A_TABLE) and proof in Proof.ANSWER | Proof.WRITE:
            self._reject(why, detail)
        elif not code.startswith(_OF_ONE_RUN) and not (code in _OF_A_WAIT and proof is not Proof.CHARGE):
            self.failed(why, detail, proof | Proof.WRITE if code.startswith(_OF_WRITES) else proof)
        return Unavailable(f"The database cannot be used now: {why}.")

    def failed(self, why: str, detail: str, needed: Proof = Proof.ANSWER) -> None:
        """Record a fault that ends when `needed` is shown; log it with the driver's `detail` if it is new."""
        with self._lock:
            self._begin()
            self._needed |= needed
            self.fault = why
            is_new = why not in self._reasons
            self._reasons.add(why)
        if is_new:
            self._log.error("Database unavailable: {reason} ({detail})", reason=why, detail=self._line(detail))

    def succeeded(self, proof: Proof = Proof.ANSWER) -> None:
        """Record a success that shows `proof`."""
        if self.since is not None:
            self._end(proof)

    def lost(self, session: object) -> None:
        """Record that `session` is not open. The database then counts as unavailable."""
        with self._lock:
            self._begin()
            self._missing.add(session)

    def connected(self, session: object) -> None:
        """Record that `session` is open."""
        self._end(Proof.ANSWER, session)

    def _begin(self) -> None:
        if self.since is None:
            self.since = self._now()

    def _end(self, proof: Proof, session: object = None) -> None:
        with self._lock:
            self._missing.discard(session)
            self._needed &= ~_SHOWN[proof]
            if self._missing or self._needed:
                return
            ended, self.fault, self.since = self.fault, None, None
            self._reasons.clear()
        if ended is not None:
            self._log.info("Database available again ({reason} ended)", reason=ended)

    def _reject(self, why: str, detail: str) -> None:
        now = self._now()
        with self._lock:
            logged_at = self._rejected.get(why)
            # The clock may be set back.
            if logged_at is not None and abs(now - logged_at) < REPEAT:
                return
            self._rejected[why] = now
        self._log.error("Database rejects statements: {reason} ({detail})", reason=why, detail=self._line(detail))

    def _line(self, detail: str) -> str:
        """Return the driver's text in one line, without the secret."""
        return " ".join((detail.replace(self._secret, "…") if self._secret else detail).split())
