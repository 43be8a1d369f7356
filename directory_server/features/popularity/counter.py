"""The counter of the accounts that use entries. Requests only note in memory; a timer writes and reads the numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from hashlib import blake2b
from secrets import token_bytes
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime

from ...domain.errors import Unavailable
from ...domain.ports.search import OPENED, USERS
from ...feature.server import LOADS, SERVICES, WRITES, Server
from ...runtime.timers import Timer
from ...tables import Rows, Tables, transaction

PLACES = 4_096
"""Places of a sketch. Two of a hundred accounts share one: nobody can tell from a place which account it was."""

FLOOR = 3
"""The least number that is shown: fewer accounts could be known."""

MAX_ENTRIES = 10_000
"""Entries whose numbers are kept in memory, those with the greatest."""

_ADD_KEY = """
    INSERT INTO popularity_period (period, key) VALUES (CAST(:period AS integer), :key) ON CONFLICT (period) DO NOTHING
"""

_KEY = "SELECT key FROM popularity_period WHERE period = :period"

_ADD = """
    INSERT INTO popularity_mark (period, mcp_id, place)
    SELECT period, mcp_id, place FROM input(period integer, mcp_id text, place integer) WHERE true
    ON CONFLICT (period, mcp_id, place) DO NOTHING
"""

_COUNTS = f"""
    SELECT mcp_id, count(*) FROM popularity_mark GROUP BY period, mcp_id HAVING count(*) >= {FLOOR}
    ORDER BY count(*) DESC, mcp_id LIMIT {2 * MAX_ENTRIES}
"""

_FORGET = "DELETE FROM popularity_mark WHERE period < :period"

_FORGET_KEYS = "DELETE FROM popularity_period WHERE period < :period"


@frozen
class Sketches:
    """The sketches of this period and the one before. Methods raise Unavailable."""

    _tables: Tables

    @transaction
    def add(self, rows: Rows, period: int, opened: Collection[tuple[str, str]]) -> None:
        """Add entries and the accounts that opened them, and delete what is older than the period before."""
        rows.execute(_ADD_KEY, period=period, key=token_bytes(blake2b.MAX_KEY_SIZE))
        key = bytes(rows.one(_KEY, period=period)[0])
        marks = sorted({(mcp_id, _place(key, mcp_id, account)) for mcp_id, account in opened})
        rows.many(_ADD, [{"period": period, "mcp_id": mcp_id, "place": place} for mcp_id, place in marks])
        rows.execute(_FORGET, period=period - 1)
        rows.execute(_FORGET_KEYS, period=period - 1)

    async def counts(self) -> Mapping[str, int]:
        """Return the numbers of accounts, by the ids of entries: the greater one of the two periods."""
        counts: dict[str, int] = {}
        for mcp_id, count in await self._tables.select(_COUNTS):
            counts.setdefault(str(mcp_id), int(count))
        return counts


def _place(key: bytes, mcp_id: str, account: str) -> int:
    digest = blake2b(f"{mcp_id}\n{account}".encode(), key=key, digest_size=4).digest()
    return int.from_bytes(digest, "big") % PLACES


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
