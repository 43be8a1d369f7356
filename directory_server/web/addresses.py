"""Where requests come from, and how often one address may do what it should not have to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from math import ceil

from attrs import field, frozen
from twisted.web.server import Request

from ..errors import Throttled
from ._headers import values

Network = IPv4Network | IPv6Network

MANY = 50_000
"""Addresses that are remembered at a time; beyond, the one that has been quiet longest is forgotten."""


def _networks(written: Sequence[str]) -> tuple[Network, ...]:
    return tuple(ip_network(each, strict=False) for each in written)


@frozen
class Proxies:
    """The proxies whose word on where a request comes from is taken, as networks such as 10.0.0.0/8."""

    _trusted: tuple[Network, ...] = field(converter=_networks, default=())

    def trusts(self, address: str) -> bool:
        """Tell whether `address` is that of such a proxy."""
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._trusted)

    def client(self, request: Request) -> str:
        """Return the address that a request comes from: the last in X-Forwarded-For that no such proxy has."""
        found = str(getattr(request.client, "host", ""))
        told = [each.strip() for value in values(request, "X-Forwarded-For") for each in value.split(",")]
        while told and self.trusts(found):
            found = told.pop()
        return _of_one(found)

    def is_secure(self, request: Request) -> bool:
        """Tell whether TLS protects a request: here, or as far as such a proxy tells in X-Forwarded-Proto."""
        told = values(request, "X-Forwarded-Proto")
        proxied = bool(told) and self.trusts(str(getattr(request.client, "host", "")))
        return request.isSecure() or (proxied and told[-1].strip().lower() == "https")


def _of_one(address: str) -> str:
    """Return what stands for one client: an IPv6 address without the half that each picks for itself (RFC 4291)."""
    try:
        parsed = ip_address(address)
    except ValueError:
        # A proxy may not know, or not tell (RFC 7239, section 6).
        return ""
    if isinstance(parsed, IPv6Address):
        mapped = parsed.ipv4_mapped
        return str(mapped) if mapped else str(ip_network((parsed, 64), strict=False))
    return address


class Limiter:
    """Lets each do something `burst` times at once, and `rate` times a second in the long run.

    One number is kept for each: when it will have made up for all it did (GCRA, ITU-T I.371).
    """

    def __init__(self, now: Callable[[], float], *, rate: float, burst: int) -> None:
        self._now = now
        self._pause = 1 / rate
        self._slack = (burst - 1) / rate
        self._even: OrderedDict[str, float] = OrderedDict()

    def charge(self, who: str) -> None:
        """Count one for `who`. Raises Throttled, and counts nothing, for too many."""
        now = self._now()
        even = max(self._even.get(who, now), now)
        wait = even - self._slack - now
        if wait > 0:
            raise Throttled(ceil(wait))
        self._even[who] = even + self._pause
        self._even.move_to_end(who)
        oldest = next(iter(self._even))
        if len(self._even) > MANY or self._even[oldest] <= now:
            del self._even[oldest]


class AddressLimiter:
    """Lets each address do something `burst` times at once, and `rate` times a second in the long run."""

    def __init__(self, proxies: Proxies, now: Callable[[], float], *, rate: float, burst: int) -> None:
        self._proxies = proxies
        self._limiter = Limiter(now, rate=rate, burst=burst)

    def charge(self, request: Request) -> None:
        """Count one for the address that `request` comes from. Raises Throttled, and counts nothing, for too many."""
        self._limiter.charge(self._proxies.client(request))
