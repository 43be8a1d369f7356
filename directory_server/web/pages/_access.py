"""Access control and rate limits of the search and entry pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias
from urllib.parse import urlencode

from attrs import frozen

from ...domain.accounts import Account
from ...domain.errors import NotFound
from ...domain.ports.access import Scopes
from ...domain.scopes import Scope
from ...domain.throttling import Limiter
from ...http import Request
from ...http.errors import HttpError
from ...services.catalogue import decide_scope, scope_of
from ..throttling import AddressLimiter

AccessMode: TypeAlias = Literal["public", "accounts", "off"]
"""Viewers who may use the pages: everybody, signed-in members, or nobody."""


@frozen
class PageAccess:
    """Controls access: `_viewer` returns the signed-in viewer of a request, `_sign_in` is the sign-in path or empty.

    `_scopes` decide which entries a viewer may see.
    """

    _mode: AccessMode
    _addresses: AddressLimiter
    _accounts: Limiter
    _viewer: Callable[[Request], Awaitable[Account | None]]
    _sign_in: str
    _scopes: Scopes | None

    @property
    def is_off(self) -> bool:
        """Whether there are no pages."""
        return self._mode == "off"

    @property
    def is_public(self) -> bool:
        """Whether everybody may search and read entries."""
        return self._mode == "public"

    async def authenticate(self, request: Request) -> Account | None:
        """Return the signed-in viewer of a page, None for an anonymous one.

        Raises NotFound if the pages are off, HttpError if the viewer must sign in, and Throttled for too many requests.
        The limit counts by account for members and by address for anonymous viewers.
        """
        return await self._charge(request, sign_in=self._mode == "accounts")

    async def identify(self, request: Request) -> Account | None:
        """Return the signed-in viewer of a page that everybody may read, None for an anonymous one.

        Raises NotFound if the pages are off, and Throttled for too many requests.
        """
        return await self._charge(request, sign_in=False)

    def client(self, request: Request, viewer: Account | None) -> str:
        """Return the id of the account of `viewer`, or the network of an anonymous one."""
        return self._addresses.client(request) if viewer is None else viewer.id

    async def _charge(self, request: Request, *, sign_in: bool) -> Account | None:
        if self._mode == "off":
            raise NotFound("The web pages of this directory are turned off.")
        viewer = await self._viewer(request)
        if viewer is not None:
            self._accounts.charge(viewer.email)
        elif sign_in:
            raise self._sign_in_required(request)
        else:
            self._addresses.charge(request)
        await decide_scope(self._scopes, request, None if viewer is None else viewer.id)
        return viewer

    def scope_of(self, request: Request) -> Scope:
        """Return the scope of an authenticated request."""
        return scope_of(self._scopes, request)

    def _sign_in_required(self, request: Request) -> HttpError:
        message = "Sign in to view the pages of this directory."
        if not self._sign_in:
            return HttpError(403, "sign_in", message)
        back = urlencode({"next": request.uri.decode("latin-1")})
        return HttpError(303, "sign_in", message, {"Location": f"{self._sign_in}?{back}"})
