"""Rate limits for passwords and invitation links."""

from __future__ import annotations

from collections.abc import Callable

from ...http import Request
from ...http.proxies import Proxies
from ..rate_limit import Limiter

MINUTE = 60.0


class AttemptLimits:
    """Limits attempts by address, by account and network, and by account.

    The limit by account and network stops guessing without locking out the owner, who is in another network. The limit
    by account is high. It stops guessing from many networks.
    """

    def __init__(self, proxies: Proxies, now: Callable[[], float]) -> None:
        self._proxies = proxies
        self._addresses = Limiter(now, rate=10 / MINUTE, burst=10)
        self._pairs = Limiter(now, rate=1 / MINUTE, burst=10)
        self._accounts = Limiter(now, rate=5 / MINUTE, burst=100)

    def network(self, request: Request) -> str:
        """Return the network of the client, to which the cost of hashing a password is attributed."""
        return self._proxies.network(request)

    def charge(self, request: Request) -> None:
        """Count one attempt of the client's address. Raises Throttled."""
        self._addresses.charge(self._proxies.client(request))

    def charge_account(self, request: Request, email: str) -> None:
        """Count one attempt to sign in to the account `email`, which need not exist. Raises Throttled."""
        account = email.strip().lower()[:254]
        self.charge(request)
        # In this order: attempts that are rejected for one network do not use up the limit of the account.
        self._pairs.charge(f"{self.network(request)} {account}")
        self._accounts.charge(account)
