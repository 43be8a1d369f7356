"""The Bus on PostgreSQL: notifications wake at once, and a poll makes sure and measures the clock of the database."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ..domain.errors import Unavailable
from ..runtime.timers import PollingBus
from ._availability import Proof
from ._connection import NOW
from ._database import Database
from ._pulse import PULSE, Pulse
from ._statements import Statements
from ._store import LastRead

_PAYLOAD = re.compile(r"(?P<kind>change|keys) (?P<number>[0-9]{1,18})(?P<ids>( \S+)*)", re.ASCII)
"""Payload of a notification: the last change, or the counter of ended keys and their ids, `*` for any."""

_POLL = f"""
    SELECT coalesce(max(seq), 0), {PULSE}, (SELECT mark FROM change WHERE seq = $1::bigint), {NOW} FROM change
"""


class PostgresBus(PollingBus):
    """Wakes the listeners when the log of changes or the counter of ended keys has moved.

    The database is asked every `interval` seconds, at the start, which also wakes, and after each `notified` that does
    not say what has moved. `pulse` gets each value of the counter, `measured` each time of the database and when its
    statement began. `went_back` is called with a message if the log no longer has the last change that `last_read` has:
    the database was restored from a backup, or a standby without the last transactions has taken over. What this
    process has in memory is then wrong.
    """

    _log = Logger()

    def __init__(
        self,
        statements: Statements,
        pulse: Pulse,
        last_read: LastRead,
        clock: IReactorTime,
        went_back: Callable[[str], None],
        interval: float = 0.25,
        measured: Callable[[float, float], None] = lambda at, began: None,
    ) -> None:
        super().__init__(self.notified, clock, interval)
        self._statements = statements
        self._pulse = pulse
        self._last_read = last_read
        self._went_back = went_back
        self._measured = measured
        self.head = 0
        """The last change of the log, when the database was last asked."""
        self._keys: int | None = None
        self._failing = False
        self._is_polling = False
        self._is_due = False

    def notified(self, payloads: Sequence[str] = ("",)) -> None:
        """Wake the listeners if `payloads` of notifications say what has moved.

        If they do not, or were missed, ask the database now, or again after the answer that is awaited.
        """
        if not self.running:
            return
        before = self.head, self._keys
        is_complete = all(self._has_learned(payload) for payload in payloads)
        if (self.head, self._keys) != before:
            self.announce()
        if not is_complete:
            self._ask_soon()

    def _has_learned(self, payload: str) -> bool:
        """Return whether a notification says all that has moved, and record that."""
        match = _PAYLOAD.fullmatch(payload)
        if match is None or self._keys is None:
            return False
        number = int(match["number"])
        if match["kind"] == "change":
            self.head = max(self.head, number)
            return True
        has_all = self._pulse.notified(number, match["ids"].split())
        if has_all:
            self._keys = self._pulse.keys
        return has_all

    def _ask_soon(self) -> None:
        self._is_due = True
        if not self._is_polling:
            Deferred.fromCoroutine(self._poll()).addErrback(
                lambda failure: self._log.failure("The database could not be polled", failure=failure)
            )

    async def _poll(self) -> None:
        self._is_polling = True
        try:
            while self._is_due and self.running:
                self._is_due = False
                await self._ask()
            self._failing = False
        except Unavailable:
            if self.running and not self._failing:
                self._log.warn("Changes of other processes cannot be seen until the database responds again")
            self._failing = True
        finally:
            self._is_polling = False

    async def _ask(self) -> None:
        # They may change while the answer is awaited.
        reading, seen, mark = self._pulse.begin(), self._last_read.seq, self._last_read.mark
        [(head, keys, seen_mark, at)] = await self._statements.run(_POLL, seen, shows=Proof.POLL)
        if not self.running:
            return
        self._measured(at, reading.at)
        if seen_mark != mark:
            message = f"The database went back: change {seen} of the log is gone or another one, the last is {head}."
            self._log.critical("{message}", message=message)
            self.stopService()
            self._went_back(message)
            return
        self._pulse.confirm(reading, keys)
        has_moved = (head, keys) != (self.head, self._keys)
        self.head, self._keys = head, keys
        if has_moved:
            self.announce()


EXACT = 1.0
"""Seconds from a statement to its answer up to which its time is used: it may be wrong by half of that."""


class DatabaseClock:
    """Seconds since the epoch by the clock of the database, as last measured; before, by `now`.

    Between measurements it runs with `monotonic`, in seconds. So a revocation and an expiry mean the same moment on
    machines whose clocks differ.
    """

    def __init__(self, now: Callable[[], float], monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._offset = now() - monotonic()

    def __call__(self) -> float:
        return self._monotonic() + self._offset

    async def measure(self, database: Database) -> None:
        """Ask `database` for its time. Raises Unavailable."""
        began = self._monotonic()
        [(at,)] = await database.run(f"SELECT {NOW}")
        self.measured(at, began)

    def measured(self, at: float, began: float) -> None:
        """Set the clock by a statement that was sent at `began` of `monotonic`, and has just returned the time `at`."""
        ended = self._monotonic()
        if ended - began <= EXACT:
            self._offset = at - (began + ended) / 2
