"""Rate limits in the memory of a process, and pauses of requests to a service that fails."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush, heapreplace
from math import ceil

from attrs import frozen

from .errors import Throttled


@frozen
class AttemptLimit:
    """A limit of attempts: `burst` at once, and `rate` a second on average. Attempts are counted by the `name`."""

    name: str
    rate: float
    burst: int


MAX_CLIENTS = 50_000
"""Largest number of clients that a limiter stores."""

CLEANUP_STEPS = 8
"""Number of stored clients that each charge examines for removal."""


class Limiter:
    """Limit each client to `burst` actions at once, and to `rate` actions a second on average.

    A client is any string. The limiter stores one number per client, its theoretical arrival time (GCRA, ITU-T
    I.371). Above MAX_CLIENTS it removes the clients that are furthest from their limit, so that many new clients do
    not reset one that is at its limit.
    """

    def __init__(self, now: Callable[[], float], *, rate: float, burst: int) -> None:
        self._now = now
        self._interval = 1 / rate
        self._tolerance = (burst - 1) / rate
        self._arrivals: dict[str, float] = {}
        # One item per client. Its time may be older than in `_arrivals`; it is updated when it reaches the top.
        self._heap: list[tuple[float, str]] = []

    def charge(self, client: str) -> None:
        """Count one action of `client`. Raises Throttled, without counting, if the client is at its limit."""
        now = self._now()
        stored = self._arrivals.get(client)
        arrival = now if stored is None else max(stored, now)
        wait = arrival - self._tolerance - now
        if wait > 0:
            raise Throttled(ceil(wait))
        self._clean_up(now)
        if client not in self._arrivals:
            heappush(self._heap, (arrival + self._interval, client))
        self._arrivals[client] = arrival + self._interval

    def _clean_up(self, now: float) -> None:
        heap = self._heap
        for _ in range(CLEANUP_STEPS):
            if not heap or (heap[0][0] > now and len(heap) < MAX_CLIENTS):
                return
            queued, client = heap[0]
            arrival = self._arrivals[client]
            if arrival > queued:
                heapreplace(heap, (arrival, client))
            else:
                heappop(heap)
                del self._arrivals[client]
                if arrival > now:
                    return


FAILURES = 5
"""Failures in a row, after which the endpoint is left alone."""

SHORTEST, LONGEST = 10.0, 300.0
"""Seconds for which it is left alone at first, and at most. The time doubles at each further failure."""


class Circuit:
    """Whether an endpoint may be asked. `now` is in seconds and never goes back.

    It is left alone after `limit` failures in a row.
    """

    def __init__(self, limit: int = FAILURES) -> None:
        self._limit = limit
        self._failures = 0
        self._pause = SHORTEST
        self._until = 0.0

    @property
    def is_paused(self) -> bool:
        """Whether the last request of the endpoint failed, and others before it."""
        return self._failures >= self._limit

    def allows(self, now: float) -> bool:
        """Return whether a request may be sent; after a pause, only one until it has succeeded or failed."""
        if self._failures < self._limit:
            return True
        if now < self._until:
            return False
        self._until = now + self._pause
        return True

    def succeed(self) -> bool:
        """Count a request that succeeded; return whether it ends a pause."""
        ends_pause = self._failures >= self._limit
        self._failures, self._pause = 0, SHORTEST
        return ends_pause

    def fail(self, now: float) -> bool:
        """Count a request that failed or took too long; return whether a pause begins."""
        self._failures += 1
        if self._failures < self._limit:
            return False
        if self._failures > self._limit:
            self._pause = min(2 * self._pause, LONGEST)
        self._until = now + self._pause
        return True
