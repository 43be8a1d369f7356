"""Rate limits for registrations."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from ...domain.errors import Throttled
from ...http import Request
from ...http.proxies import Proxies
from ..rate_limit import Limiter

DAY = 86_400.0


@frozen
class RegistrationPolicy:
    """Whether anyone may register, and the number of registrations in 24 hours per address and per network."""

    is_open: bool
    per_address: int
    per_network: int


class RegistrationLimits:
    """Limits registrations by address (IPv6: /64) and by network. The number for 24 hours is also the burst."""

    def __init__(self, proxies: Proxies, now: Callable[[], float], policy: RegistrationPolicy) -> None:
        self._proxies = proxies
        self.is_open = policy.is_open
        self._addresses = Limiter(now, rate=policy.per_address / DAY, burst=policy.per_address)
        self._networks = Limiter(now, rate=policy.per_network / DAY, burst=policy.per_network)

    def charge(self, request: Request) -> None:
        """Count one registration. Raises Throttled when the address or its network has reached its limit."""
        try:
            # The address first: attempts that are rejected for one address do not use up the limit of its network.
            self._addresses.charge(self._proxies.client(request))
            self._networks.charge(self._proxies.network(request))
        except Throttled as error:
            error.code = "registration_throttled"
            raise
