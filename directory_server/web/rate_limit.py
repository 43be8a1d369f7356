"""Rate limits by client address."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush, heapreplace
from math import ceil

from ..domain.errors import Throttled
from ..http import Request
from ..http.proxies import IPV6_PREFIX, Proxies, network_of

MANY = 50_000
"""Groups that a limiter remembers at a time."""


STEPS = 8
"""Remembered groups that a limiter looks at for each charge, in search of some to forget."""


class Limiter:
    """Lets each do something `burst` times at once, and `rate` times a second in the long run.

    One number is kept for each: when it will have made up for all it did (GCRA, ITU-T I.371). Of more than MANY, those
    that have least to make up for are forgotten: new names, however many, do not reset one that is at its limit.
    """

    def __init__(self, now: Callable[[], float], *, rate: float, burst: int) -> None:
        self._now = now
        self._pause = 1 / rate
        self._slack = (burst - 1) / rate
        self._even: dict[str, float] = {}
        # One item for each, its time at most the one above, and brought up to date when it comes to the top.
        self._heap: list[tuple[float, str]] = []

    def charge(self, who: str) -> None:
        """Count one for `who`. Raises Throttled, and counts nothing, for too many."""
        now = self._now()
        known = self._even.get(who)
        even = now if known is None else max(known, now)
        wait = even - self._slack - now
        if wait > 0:
            raise Throttled(ceil(wait))
        self._forget(now)
        if who not in self._even:
            heappush(self._heap, (even + self._pause, who))
        self._even[who] = even + self._pause

    def _forget(self, now: float) -> None:
        heap = self._heap
        for _ in range(STEPS):
            if not heap or (heap[0][0] > now and len(heap) < MANY):
                return
            noted, who = heap[0]
            even = self._even[who]
            if even > noted:
                heapreplace(heap, (even, who))
            else:
                heappop(heap)
                del self._even[who]
                if even > now:
                    return


class AddressLimiter:
    """Lets each address do something `burst` times at once, and `rate` times a second in the long run.

    Addresses of one IPv6 network with a prefix of `ipv6_prefix` bits count as one.
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
        """Count one for the address that `request` comes from. Raises Throttled, and counts nothing, for too many."""
        self._limiter.charge(network_of(self._proxies.address(request), self._prefix))
