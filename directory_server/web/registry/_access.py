"""Authentication for the registry API: by mode, because editors cannot send an API key."""

from __future__ import annotations

from typing import Literal

from attrs import frozen
from werkzeug.exceptions import NotFound

from ...domain.ports.access import RegistryTokens
from ...http import Request
from ..authentication import Authenticator
from ..rate_limit import AddressLimiter

Mode = Literal["off", "public", "secret-path", "key"]


@frozen
class RegistryAccess:
    """Authentication by `mode`. `reads` limits requests without a key, `failures` limits unknown tokens."""

    mode: Mode
    _authenticator: Authenticator
    _tokens: RegistryTokens
    _reads: AddressLimiter
    _failures: AddressLimiter

    async def authenticate(self, request: Request, token: str | None) -> None:
        """Authenticate a request whose path contains `token`, or None.

        Raises NotFound if the mode has no such path or the token is unknown, Unauthorized, or Throttled.
        """
        if self.mode == "off" or (token is not None) != (self.mode == "secret-path"):
            raise NotFound
        if self.mode == "key":
            async with self._authenticator.authenticate(request):
                return
        if token is not None and await self._tokens.find(token) is None:
            self._failures.charge(request)
            raise NotFound
        self._reads.charge(request)
