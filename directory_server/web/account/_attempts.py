"""How often passwords and links may be tried."""

from __future__ import annotations

from collections.abc import Callable

from ...http import Request
from ...http.proxies import Proxies
from ..rate_limit import Limiter
from ._networks import network

MINUTE = 60.0


class Attempts:
    """Limits attempts by address, by account and network together, and by account.

    The limit by account and network stops guessing without locking the owner out, who is elsewhere. That by account
    alone is high, for guessing from many networks.
    """

    def __init__(self, proxies: Proxies, now: Callable[[], float]) -> None:
        self._proxies = proxies
        self._addresses = Limiter(now, rate=10 / MINUTE, burst=10)
        self._pairs = Limiter(now, rate=1 / MINUTE, burst=10)
        self._accounts = Limiter(now, rate=5 / MINUTE, burst=100)

    def network(self, request: Request) -> str:
        """Return the network that a request comes from, whose share of the work it uses."""
        return network(self._proxies.client(request))

    def charge(self, request: Request) -> None:
        """Count an attempt of an address. Raises Throttled."""
        self._addresses.charge(self._proxies.client(request))

    def charge_account(self, request: Request, email: str) -> None:
        """Count an attempt at an account, known or not. Raises Throttled."""
        account = email.strip().lower()[:254]
        self.charge(request)
        # In this order: what one network is refused does not use up what the account has for all.
        self._pairs.charge(f"{self.network(request)} {account}")
        self._accounts.charge(account)
