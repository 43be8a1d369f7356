"""Who may use the ARD registry, and how their requests are charged."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from attrs import frozen
from werkzeug.exceptions import NotFound as UnknownPath

from ...domain.errors import QuotaExceeded
from ...http import Request
from ...http.errors import ErrorResponse, HttpError
from ...services.catalogue import decide_scope
from ...web.authentication import Authenticator
from ...web.responses import ReadAccess
from ...web.routes import Api
from ...web.throttling import AddressLimiter


@frozen
class Caller:
    """A client that may use the registry: its id, and how a request of it is charged."""

    client: str
    charge: Callable[[], Any]


@frozen
class ArdAccess(ReadAccess):
    """Who may use the registry, by `mode`: off, public or key. `reads` limits requests without a key by address."""

    _authenticator: Authenticator
    _reads: AddressLimiter

    def check_on(self) -> None:
        """Raise UnknownPath if there is no registry."""
        if self.mode == "off":
            raise UnknownPath

    @asynccontextmanager
    async def caller(self, request: Request) -> AsyncIterator[Caller]:
        """Authenticate a request while the context is open.

        Raises UnknownPath if there is no registry, Unauthorized, or Throttled.
        """
        self.check_on()
        if self.is_open(request):

            async def charge_address() -> None:
                self._reads.charge(request)

            await decide_scope(self._authenticator.scopes, request, None)
            yield Caller(self._reads.client(request), charge_address)
            return
        async with self._authenticator.authenticate(request) as authenticated:

            async def charge_key() -> None:
                try:
                    await authenticated.charge()
                except QuotaExceeded as error:
                    # The REST API has 401 for this, ARD has 429.
                    raise HttpError(429, error.code, error.message) from error

            yield Caller(authenticated.key.client_id, charge_key)


_CODES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RATE_LIMIT_EXCEEDED"}
"""The codes of errors by status (ARD v0.9, appendix B). Other statuses of the server have INTERNAL_ERROR."""


def error_body(error: ErrorResponse) -> dict[str, Any]:
    code = _CODES.get(error.status, "INTERNAL_ERROR" if error.status >= 500 else "INVALID_ARGUMENT")
    return {"errorCode": code, "message": error.message}


ARD = Api("ARD", error_body, any_origin="write")
