"""The web part of icons: the choice of an icon in the document of an entry, and the route that serves it."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from ...domain.entries import Entry
from ...domain.errors import DirectoryError, NotFound
from ...feature.parts import WebPart
from ...feature.server import Server
from ...http import Request
from ...http_client import target_of
from ...runtime.threads import OwnThreads
from ...web.pages import ASSET_POLICY, ENTRY_IMAGE
from ...web.responses import conditional_response
from ...web.routes import APPS, App
from .service import CONCURRENCY, MAX_WAITING, NO_ICON, Icons, icons_of
from .settings import IconsConfig

PATH = "/icons/"

MAX_ICONS = 8
"""Icons of a document that are looked at."""

_OTHER_TYPES = (".svg", ".ico")
"""Endings of files that are not served: an SVG is a document with links of its own, an ICO holds images of any size."""


def run(server: Server) -> None:
    """Add the icons to pages."""
    server.set(ENTRY_IMAGE, image_path)


def image_path(entry: Entry) -> str:
    """Return the path at which this server serves the icon of an entry, empty if it has none."""
    return PATH + entry.mcp_id if icon_url(entry) else ""


def icon_url(entry: Entry) -> str:
    """Return the https URL of the first icon that may be a picture for light pages, empty if there is none.

    The form of `icons` is that of the server.json schema: objects with `src`, `mimeType`, `sizes` and `theme`.
    """
    icons = entry.server.get("icons")
    for icon in icons[:MAX_ICONS] if isinstance(icons, list) else ():
        if isinstance(icon, Mapping) and icon.get("theme") != "dark":
            url = icon.get("src")
            if isinstance(url, str) and url.startswith("https://") and icon.get("mimeType") != "image/svg+xml":
                picture = _picture_url(url)
                if picture:
                    return picture
    return ""


def _picture_url(url: str) -> str:
    """Return `url` with its host in ASCII, empty if it is invalid or the file is no picture."""
    try:
        target = target_of(url).url
    except DirectoryError:
        return ""
    return "" if target.partition("?")[0].lower().endswith(_OTHER_TYPES) else target


_DAY = "private, max-age=86400"


@frozen
class IconHandlers:
    """Serves icons to those who may see the pages. `icons` is None where icons are not fetched."""

    app = App()

    _server: Server
    _icons: Icons | None

    @app.get(PATH + "{mcp_id}")
    async def get(self, request: Request, mcp_id: str) -> bytes:
        """Return the icon of the entry `mcp_id`. Raises NotFound."""
        await self._server.access.authenticate(request)
        url = icon_url(await self._server.catalogue.of(request).entry(mcp_id)) if self._icons is not None else ""
        if self._icons is None or not url:
            raise NotFound(NO_ICON)
        icon = await self._icons.get(url)
        request.setHeader("Content-Security-Policy", ASSET_POLICY)
        request.setHeader("Cross-Origin-Resource-Policy", "same-origin")
        return conditional_response(request, icon.body, _DAY, **{"Content-Type": icon.media_type})


def _serve(server: Server) -> None:
    icons = None
    if server.config.of(IconsConfig).fetch:
        # Entries name the hosts. A slow look-up outlives its deadline, so it must not take a thread of the reactor.
        lookup = OwnThreads(server.reactor, limit=CONCURRENCY, waiting=MAX_WAITING)
        icons = icons_of(server.reactor, lookup, server.now)
    server.add(APPS, IconHandlers(server, icons).app)


PART = WebPart(serve=_serve)
