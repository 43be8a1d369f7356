"""Who may read the registry API. Editors send no key, so there are other ways in."""

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
    """Admits requests by `mode`; `reads` bounds those without a key, and `failures` tokens that open nothing."""

    mode: Mode
    _authenticator: Authenticator
    _tokens: RegistryTokens
    _reads: AddressLimiter
    _failures: AddressLimiter

    async def authenticate(self, request: Request, token: str | None) -> None:
        """Let a request in, whose path has `token` in it, or has none.

        Raises NotFound where there is nothing at such a path, whoever asks; Unauthorized; Throttled.
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
