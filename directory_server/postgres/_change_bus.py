"""The Bus on PostgreSQL: notifications wake at once, and a poll makes sure."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ..domain.errors import Unavailable
from ..listeners import PollingBus
from ._last_read import LastRead
from ._link import Statements
from ._pulse import PULSE, Pulse

CHANNEL = "directory"
"""The channel on which publishers, and transactions that end keys, notify."""

_POLL = f"""
    SELECT coalesce(max(seq), 0), {PULSE}, (SELECT mark FROM change WHERE seq = $1::bigint) FROM change
"""


class PostgresBus(PollingBus):
    """Wakes the listeners when the log of changes or the counter of ended keys has moved.

    The database is asked after each `notified`, every `interval` seconds, and at the start, which also wakes. `pulse`
    gets each value of the counter. `went_back` is called with a message if the log no longer has the last change that
    `last_read` has: the database was restored from a backup, or a standby without the last transactions has taken over.
    What this process has in memory is then wrong.
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
    ) -> None:
        super().__init__(self.notified, clock, interval)
        self._statements = statements
        self._pulse = pulse
        self._last_read = last_read
        self._went_back = went_back
        self.head = 0
        """The last change of the log, when the database was last asked."""
        self._keys: int | None = None
        self._failing = False
        self._is_polling = False
        self._is_due = False

    def notified(self) -> None:
        """Ask the database now, or again after the answer that is awaited."""
        if not self._loop.running:
            return
        self._is_due = True
        if not self._is_polling:
            Deferred.fromCoroutine(self._poll()).addErrback(
                lambda failure: self._log.failure("The database could not be polled", failure=failure)
            )

    async def _poll(self) -> None:
        self._is_polling = True
        try:
            while self._is_due and self._loop.running:
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
        [(head, keys, seen_mark)] = await self._statements.run(_POLL, seen)
        if not self._loop.running:
            return
        if seen_mark != mark:
            message = f"The database went back: change {seen} of the log is gone or another one, the last is {head}."
            self._log.critical("{message}", message=message)
            self._loop.stop()
            self._went_back(message)
            return
        self._pulse.confirm(reading, keys)
        has_moved = (head, keys) != (self.head, self._keys)
        self.head, self._keys = head, keys
        if has_moved:
            self.announce()
