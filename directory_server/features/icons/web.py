"""The web part of icons: one route, which serves the icon of an entry."""

from __future__ import annotations

from attrs import frozen

from ...domain.errors import NotFound
from ...http import Request
from ...services.catalogue import Catalogue
from ...threads import OwnThreads
from ...web.pages import ASSET_POLICY, PageAccess
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.responses import conditional_response
from ...web.routes import PAGES, Route
from .choice import PATH, icon_url
from .service import CONCURRENCY, MAX_WAITING, NO_ICON, Icons, icons_of
from .settings import IconsConfig

_DAY = "private, max-age=86400"


@frozen
class IconHandlers:
    """Serves icons to those who may see the pages. `icons` is None where icons are not fetched."""

    _access: PageAccess
    _catalogue: Catalogue
    _icons: Icons | None

    async def get(self, request: Request, mcp_id: str) -> bytes:
        """Return the icon of the entry `mcp_id`. Raises NotFound."""
        await self._access.authenticate(request)
        url = icon_url(await self._catalogue.of(request).entry(mcp_id)) if self._icons is not None else ""
        if self._icons is None or not url:
            raise NotFound(NO_ICON)
        icon = await self._icons.get(url)
        request.setHeader("Content-Security-Policy", ASSET_POLICY)
        request.setHeader("Cross-Origin-Resource-Policy", "same-origin")
        return conditional_response(request, icon.body, _DAY, **{"Content-Type": icon.media_type})


def _serve(kernel: Kernel) -> Endpoints:
    icons = None
    if kernel.config.of(IconsConfig).fetch:
        # Entries name the hosts. A slow look-up outlives its deadline, so it must not take a thread of the reactor.
        lookup = OwnThreads(kernel.reactor, most=CONCURRENCY, waiting=MAX_WAITING)
        icons = icons_of(kernel.reactor, lookup, kernel.now)
    return Endpoints({"icons": IconHandlers(kernel.access, kernel.catalogue, icons)})


PART = WebPart(routes=(Route(PATH + "{mcp_id}", "GET", PAGES, "icons.get"),), serve=_serve)
