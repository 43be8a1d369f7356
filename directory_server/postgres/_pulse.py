"""The counter by which all processes learn that a key may have ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from ..tables import CHANNEL
from ._connection import Cursor
from ._database import Database

CONFIRMED = 1.0
"""Seconds for which a reading of the counter is relied on: a revoked key ends everywhere within this time."""

PULSE = "(SELECT keys FROM pulse)"
"""The counter, in SQL."""

ALL = "*"
"""In place of ids of keys: any key may have ended."""

PAYLOAD = 7_000
"""Most bytes of the ids in a notification; PostgreSQL accepts 7,999."""

ENDED = 10_000
"""Most ended keys that a process remembers while it keeps its look-ups of others."""

_END = f"""
    WITH ended AS (UPDATE pulse SET keys = keys + 1 RETURNING keys)
    SELECT pg_notify('{CHANNEL}', concat_ws(' ', 'keys', keys, $1::text)) FROM ended
"""


def end_keys(cursor: Cursor, key_ids: Sequence[str] | None = None) -> None:
    """Make all processes check the validity of `key_ids`, by default of all keys, after the commit of this transaction.

    It must be the last statement, because transactions that change the one row wait for each other until the commit.
    """
    ids = ALL if key_ids is None else " ".join(key_ids)
    cursor.all(_END, ids if len(ids.encode()) <= PAYLOAD else ALL)
    cursor.ends_keys = True


@frozen
class Reading:
    """The beginning of a statement that reads the counter: `at` is in seconds of the clock of the Pulse.

    `keys` is the value that the process knew.
    """

    at: float
    ended: int
    epoch: int
    keys: int | None


class Pulse:
    """The counter as this process last read it; `seconds` is a monotonic clock. Only for the reactor's thread."""

    def __init__(self, database: Database, seconds: Callable[[], float]) -> None:
        self._database = database
        self._seconds = seconds
        self.keys: int | None = None
        """The last known value, None before the first."""
        self.ended: dict[str, int] = {}
        """The values of the counter since which keys have ended, by the ids of the keys; of this generation only."""
        self._confirmed: Reading | None = None
        self._epoch = 0
        self.generation = 0
        """Another number once any key may have ended."""

    @property
    def is_fresh(self) -> bool:
        """Whether the counter is known, and this process has ended no key since."""
        known = self._confirmed
        return known is not None and known.ended == self._database.ended_keys and self._seconds() - known.at < CONFIRMED

    def begin(self) -> Reading:
        """Return the beginning of a statement that reads the counter."""
        return Reading(self._seconds(), self._database.ended_keys, self._epoch, self.keys)

    def notified(self, keys: int, key_ids: Sequence[str]) -> bool:
        """Record that `key_ids` may have ended when the counter became `keys`; return whether nothing was missed."""
        if self.keys is None or keys > self.keys + 1:
            return False
        if keys == self.keys + 1:
            self.keys = keys
            if ALL in key_ids or len(self.ended) + len(key_ids) > ENDED:
                self._end_all()
            else:
                self.ended |= dict.fromkeys(key_ids, keys)
        return True

    def confirm(self, reading: Reading, keys: int, *, is_poll: bool = True) -> bool:
        """Record the value of the counter that a statement returned; return whether it holds now.

        It does not if this process has ended a key or lost its session since the statement began, or has learned
        another value meanwhile. Only a poll, whose answer comes after the notifications before it, changes the known
        value: a notification was missed, so any key may have ended.
        """
        if reading.ended != self._database.ended_keys or reading.epoch != self._epoch:
            return False
        if keys != self.keys:
            if self.keys is not None and (self.keys != reading.keys or not is_poll):
                return False
            self.keys = keys
            self._end_all()
        if self._confirmed is None or reading.at > self._confirmed.at:
            self._confirmed = reading
        return True

    def lose(self) -> None:
        """Rely on no reading so far: the session with the database is lost."""
        self._confirmed = None
        self._epoch += 1

    def _end_all(self) -> None:
        self.generation += 1
        self.ended.clear()
