"""The counter of the accounts that use entries. Requests only note in memory; a timer writes and reads the numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime

from ...domain.errors import Unavailable
from ...domain.ports.search import OPENED, USERS
from ...feature.server import LOADS, SERVICES, WRITES, Server
from ...runtime.timers import Timer
from .tables import Sketches

INTERVAL = 300.0
"""Seconds between two writes, after which the numbers are read."""

PERIOD = 30 * 86_400
"""Seconds of a period."""

MAX_PENDING = 20_000
"""Pairs of an entry and an account between two writes; further ones are not counted."""


class PopularityCounter(Timer):
    """Counts the accounts that open an entry. `now` returns seconds since the epoch."""

    def __init__(self, sketches: Sketches, clock: IReactorTime, now: Callable[[], float]) -> None:
        super().__init__(INTERVAL, self.flush, clock, at_start=False)
        self._sketches = sketches
        self._now = now
        self._pending: set[tuple[str, str]] = set()
        self._counts: Mapping[str, int] = {}

    def counts(self) -> Mapping[str, int]:
        """Return the numbers of accounts by the ids of entries; another object once they are read again."""
        return self._counts

    def opened(self, mcp_id: str, account: str) -> None:
        """Note that an account has opened an entry."""
        if account and len(self._pending) < MAX_PENDING:
            self._pending.add((mcp_id, account))

    def stopService(self) -> Deferred[Any]:
        super().stopService()
        return self.flush()

    def flush(self) -> Deferred[None]:
        """Write what was noted, and read the numbers. If the storage is unavailable, what was noted is lost."""
        return Deferred.fromCoroutine(self.update())

    async def update(self) -> None:
        """Do what `flush` does."""
        pending, self._pending = self._pending, set()
        try:
            await self._sketches.add(int(self._now()) // PERIOD, pending)
            await self.load()
        except Unavailable:
            return

    async def load(self) -> None:
        """Read the numbers."""
        self._counts = await self._sketches.counts()


def run(server: Server) -> None:
    """Add the counter, which gets the entries that are opened."""
    counter = PopularityCounter(Sketches(server.storage.statistics_tables), server.reactor, server.now)
    server.add(SERVICES, counter)
    server.add(OPENED, counter.opened)
    server.add(LOADS, counter.update)
    server.add(WRITES, counter.update)
    server.set(USERS, counter.counts)
