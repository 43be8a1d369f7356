"""Rate limits by client address."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush, heapreplace
from math import ceil

from ..domain.errors import Throttled
from ..http import Request
from ..http.proxies import IPV6_PREFIX, Proxies, network_of

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


class AddressLimiter:
    """Limit each client address to `burst` actions at once, and to `rate` actions a second on average.

    All addresses of an IPv6 network with a prefix of `ipv6_prefix` bits count as one client.
    """

    def __init__(
        self,
        proxies: Proxies,
        now: Callable[[], float],
        *,
        rate: float,
        burst: int,
        ipv6_prefix: int = IPV6_PREFIX,
    ) -> None:
        self._proxies = proxies
        self._prefix = ipv6_prefix
        self._limiter = Limiter(now, rate=rate, burst=burst)

    def charge(self, request: Request) -> None:
        """Count one action of the address of `request`. Raises Throttled, without counting, if it is at its limit."""
        self._limiter.charge(network_of(self._proxies.address(request), self._prefix))
