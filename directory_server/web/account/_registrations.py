"""How many accounts may be registered from one address and from one network."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_network

from attrs import frozen
from twisted.web.server import Request

from ...errors import Throttled
from ..addresses import Limiter, Proxies

DAY = 86_400.0

IPV4_PREFIX, IPV6_PREFIX = 24, 48
"""Bits that the addresses of one network share: the smallest that is routed (IPv4), one site (RFC 6177)."""


def network(client: str) -> str:
    """Return the network that a client is in, "" for an unknown one; `client` is as `Proxies.client` returns it."""
    try:
        group = ip_network(client)
    except ValueError:
        return ""
    return str(group.supernet(new_prefix=IPV4_PREFIX if group.version == 4 else IPV6_PREFIX))


@frozen
class Opening:
    """Who may register: anybody if `is_open`; so many accounts in 24 hours by address and by network."""

    is_open: bool
    per_address: int
    per_network: int


class Registrations:
    """Limits registrations by address (IPv6: /64) and by network; each may have its number at once."""

    def __init__(self, proxies: Proxies, now: Callable[[], float], opening: Opening) -> None:
        self._proxies = proxies
        self.is_open = opening.is_open
        self._addresses = Limiter(now, rate=opening.per_address / DAY, burst=opening.per_address)
        self._networks = Limiter(now, rate=opening.per_network / DAY, burst=opening.per_network)

    def charge(self, request: Request) -> None:
        """Count a registration. Raises Throttled where the address or its network has had too many."""
        client = self._proxies.client(request)
        try:
            # The address first: an address that is refused does not use up what its neighbours have.
            self._addresses.charge(client)
            self._networks.charge(network(client))
        except Throttled as error:
            error.code = "registration_throttled"
            raise
