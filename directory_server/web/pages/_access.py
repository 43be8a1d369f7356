"""Who may look at the pages of the directory, and how often."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias
from urllib.parse import urlencode

from attrs import frozen

from ...domain.errors import NotFound
from ...http import Request
from ...http.errors import HttpError
from ..rate_limit import AddressLimiter, Limiter
from ._layout import Viewer

Openness: TypeAlias = Literal["public", "accounts", "off"]
"""To whom the pages are open: anybody, those who are signed in, or nobody."""


async def nobody(request: Request) -> Viewer | None:
    """Return None: there is no way to sign in."""
    return None


@frozen
class PageAccess:
    """Lets people in: `viewer` knows those who are signed in, `sign_in` is the path at which one does that, if any."""

    _openness: Openness
    _addresses: AddressLimiter
    _accounts: Limiter
    _viewer: Callable[[Request], Awaitable[Viewer | None]] = nobody
    _sign_in: str = ""

    async def authenticate(self, request: Request) -> Viewer | None:
        """Return who looks at a page, None for anybody.

        Raises NotFound, HttpError where one has to sign in, and Throttled for too many requests
        from one address, or of one account: members who share an address do not share its limit.
        """
        if self._openness == "off":
            raise NotFound("The pages of this directory are switched off.")
        viewer = await self._viewer(request)
        if viewer is not None:
            self._accounts.charge(viewer.email)
        elif self._openness == "accounts":
            raise self._unknown(request)
        else:
            self._addresses.charge(request)
        return viewer

    def _unknown(self, request: Request) -> HttpError:
        message = "The pages of this directory are for those who are signed in."
        if not self._sign_in:
            return HttpError(403, "sign_in", message)
        back = urlencode({"next": request.uri.decode("latin-1")})
        return HttpError(303, "sign_in", message, {"Location": f"{self._sign_in}?{back}"})
