"""Limits of sign-ins and registrations, and of accounts that are not approved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil

from ...domain.errors import Throttled
from ...domain.ports.access import Attempts
from ...domain.throttling import AttemptLimit, Limiter
from ...http import Request
from ...http.proxies import Proxies
from ...services.user_keys import UserKeys

MINUTE = 60.0
DAY = 86_400.0

_BY_ADDRESS = AttemptLimit("address", rate=10 / MINUTE, burst=10)
_BY_PAIR = AttemptLimit("account and network", rate=1 / MINUTE, burst=10)
_BY_ACCOUNT = AttemptLimit("account", rate=5 / MINUTE, burst=100)

KEY_CHANGES = AttemptLimit("changes of keys", rate=20 / (60 * MINUTE), burst=10)
"""How often a member may create, rotate and rename keys."""


class AttemptLimits:
    """Limits attempts by address, by account and network, and by account.

    The limit by account and network stops guessing without locking out the owner, who is in another network. The limit
    by account is high. It stops guessing from many networks.
    """

    def __init__(self, proxies: Proxies, attempts: Attempts) -> None:
        self._proxies = proxies
        self._attempts = attempts

    async def charge(self, request: Request) -> None:
        """Count one attempt of the client's address. Raises Throttled."""
        await self._attempts.charge(_BY_ADDRESS, self._proxies.client(request))

    async def charge_account(self, request: Request, email: str) -> None:
        """Count one attempt to sign in to the account `email`, which need not exist. Raises Throttled."""
        account = email.strip().lower()[:254]
        await self.charge(request)
        # In this order: attempts that are rejected for one network do not use up the limit of the account.
        await self._attempts.charge(_BY_PAIR, f"{self._proxies.network(request)} {account}")
        await self._attempts.charge(_BY_ACCOUNT, account)


class RegistrationLimits:
    """Limits registrations by address (IPv6: /64) and by network. The number for 24 hours is also the burst.

    `is_open` is whether anyone may register.
    """

    def __init__(
        self, proxies: Proxies, now: Callable[[], float], *, is_open: bool, per_address: int, per_network: int
    ) -> None:
        self._proxies = proxies
        self.is_open = is_open
        self._addresses = Limiter(now, rate=per_address / DAY, burst=per_address)
        self._networks = Limiter(now, rate=per_network / DAY, burst=per_network)

    def charge(self, request: Request) -> None:
        """Count one registration. Raises Throttled when the address or its network has reached its limit."""
        try:
            # The address first: attempts that are rejected for one address do not use up the limit of its network.
            self._addresses.charge(self._proxies.client(request))
            self._networks.charge(self._proxies.network(request))
        except Throttled as error:
            error.code = "registration_throttled"
            raise


def pending_limits(keys: UserKeys) -> Mapping[str, object]:
    """Return the template values: requests (None: no limit) in any window of minutes, keys, days until deletion."""
    pending = keys.pending
    return {
        "limit": keys.limit,
        "minutes": keys.window // 60,
        "pending_keys": pending.keys,
        "unused_days": ceil(pending.unused / DAY),
    }
