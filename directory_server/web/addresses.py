"""Client addresses: which address a request comes from, how addresses are grouped, and rate limits for each group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush, heapreplace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from math import ceil

from attrs import field, frozen
from twisted.internet.address import UNIXAddress
from twisted.internet.interfaces import IAddress
from twisted.web.server import Request

from ..errors import Throttled
from ._headers import values

Network = IPv4Network | IPv6Network

UNIX = "unix"
"""Stands for the peers of UNIX sockets in the list of trusted proxies."""

IPV6_PREFIX = 64
"""Bits of an IPv6 address that one network shares; each host picks the others for itself (RFC 4291, 2.5.1)."""

MANY = 50_000
"""Groups that a limiter remembers at a time."""

STEPS = 8
"""Remembered groups that a limiter looks at for each charge, in search of some to forget."""


def _networks(written: Sequence[str]) -> tuple[Network, ...]:
    return tuple(ip_network(each, strict=False) for each in written if each != UNIX)


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    """Return the address that a text holds, an IPv4-mapped one as IPv4 (RFC 4291, 2.5.5.2); None for other texts."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    return (parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None) or parsed


def network_of(address: str, ipv6_prefix: int = IPV6_PREFIX) -> str:
    """Return the group that counts as one client: an IPv4 address, or the IPv6 network with a prefix of so many bits.

    Every count and limit by address uses this function. Texts that are no address are one group, the empty text.
    """
    parsed = _parsed(address)
    if isinstance(parsed, IPv6Address):
        return str(ip_network((int(parsed), ipv6_prefix), strict=False))
    # A proxy may not know the client, or not give it (RFC 7239, section 6).
    return "" if parsed is None else str(parsed)


@frozen
class Proxies:
    """The trusted proxies: networks such as 10.0.0.0/8, and `unix` for every peer of a UNIX socket.

    Their X-Forwarded-For and X-Forwarded-Proto are believed.
    """

    _written: Sequence[str] = ()
    _trusted: tuple[Network, ...] = field(init=False)

    @_trusted.default
    def _(self) -> tuple[Network, ...]:
        return _networks(self._written)

    def trusts(self, address: str) -> bool:
        """Return whether `address` is in a trusted network."""
        parsed = _parsed(address)
        return parsed is not None and any(parsed in network for network in self._trusted)

    def address(self, request: Request) -> str:
        """Return the address of the client: the last one in X-Forwarded-For that is not a trusted proxy's."""
        found = str(getattr(request.client, "host", ""))
        trusted = self._trusts_peer(request.client)
        if trusted:
            forwarded = [each.strip() for value in values(request, "X-Forwarded-For") for each in value.split(",")]
            while forwarded and trusted:
                found = forwarded.pop()
                trusted = self.trusts(found)
        return found

    def client(self, request: Request) -> str:
        """Return the group of the client's address, as `network_of` makes it."""
        return network_of(self.address(request))

    def is_secure(self, request: Request) -> bool:
        """Return whether TLS protects a request: here, or at a trusted proxy, by its X-Forwarded-Proto."""
        if request.isSecure():
            return True
        forwarded = values(request, "X-Forwarded-Proto")
        return bool(forwarded) and forwarded[-1].strip().lower() == "https" and self._trusts_peer(request.client)

    def _trusts_peer(self, peer: IAddress | None) -> bool:
        if isinstance(peer, UNIXAddress):
            return UNIX in self._written
        return self.trusts(str(getattr(peer, "host", "")))


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
