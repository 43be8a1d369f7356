"""The clock of the database, which all machines share."""

from __future__ import annotations

from collections.abc import Callable

from ._connection import NOW
from ._database import Database

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
