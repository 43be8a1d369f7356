"""How many accounts may be registered from one address and from one network."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from ...domain.errors import Throttled
from ...http import Request
from ...http.proxies import Proxies
from ..rate_limit import Limiter
from ._networks import network

DAY = 86_400.0


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
