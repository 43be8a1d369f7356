"""Rate limits by client address."""

from __future__ import annotations

from collections.abc import Callable

from ..domain.throttling import Limiter
from ..http import Request
from ..http.proxies import IPV6_PREFIX, Proxies, network_of


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
        """Count one action of the client of `request`. Raises Throttled, without counting, if it is at its limit."""
        self._limiter.charge(self.client(request))

    def client(self, request: Request) -> str:
        """Return the network that counts as the client of `request`."""
        return network_of(self._proxies.address(request), self._prefix)
