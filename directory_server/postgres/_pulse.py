"""The counter by which all processes learn that a key may have ended."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from ._connection import Cursor
from ._database import Database
from ._visibility import notify

CONFIRMED = 1.0
"""Seconds for which a reading of the counter is relied on: a revoked key ends everywhere within this time."""

PULSE = "(SELECT keys FROM pulse)"
"""The counter, in SQL."""

_BUMP = "UPDATE pulse SET keys = keys + 1"


def end_keys(cursor: Cursor) -> None:
    """Make all processes check the validity of their keys again, after the commit of this transaction.

    It must be the last statement, because transactions that change the one row wait for each other until the commit.
    """
    cursor.execute(_BUMP)
    notify(cursor)
    cursor.ends_keys = True


@frozen
class Reading:
    """The beginning of a statement that reads the counter: `at` is in seconds of the clock of the Pulse."""

    at: float
    ended: int
    epoch: int


class Pulse:
    """The counter as this process last read it; `seconds` is a monotonic clock. Only for the reactor's thread."""

    def __init__(self, database: Database, seconds: Callable[[], float]) -> None:
        self._database = database
        self._seconds = seconds
        self._keys: int | None = None
        self._confirmed: Reading | None = None
        self._epoch = 0
        self.generation = 0
        """Another number after each change of the counter."""

    @property
    def is_fresh(self) -> bool:
        """Whether the counter is known, and this process has ended no key since."""
        known = self._confirmed
        return known is not None and known.ended == self._database.ended_keys and self._seconds() - known.at < CONFIRMED

    def begin(self) -> Reading:
        """Return the beginning of a statement that reads the counter."""
        return Reading(self._seconds(), self._database.ended_keys, self._epoch)

    def confirm(self, reading: Reading, keys: int) -> bool:
        """Record the value of the counter that a statement returned; return whether it holds now.

        It does not if this process has ended a key or lost its link since the statement began, or a later statement has
        returned another value.
        """
        if reading.ended != self._database.ended_keys or reading.epoch != self._epoch:
            return False
        if keys != self._keys and self._confirmed is not None and reading.at < self._confirmed.at:
            # A statement that began later has returned the newer value.
            return False
        if keys != self._keys:
            self._keys = keys
            self.generation += 1
        if self._confirmed is None or reading.at > self._confirmed.at:
            self._confirmed = reading
        return True

    def lose(self) -> None:
        """Rely on no reading so far: the link to the database is lost."""
        self._confirmed = None
        self._epoch += 1
