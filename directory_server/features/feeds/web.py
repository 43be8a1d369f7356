"""The web part of feeds: handlers and links."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from attrs import frozen

from ...domain.errors import NotFound
from ...feature.parts import ROBOTS, WebPart
from ...feature.server import Server
from ...http import Request
from ...web.pages import Extension
from ...web.responses import conditional_response
from ...web.routes import APPS, App
from .feed import Feeds
from .sitemap import PATH as SITEMAP
from .sitemap import Sitemap


def _serve(server: Server) -> None:
    server.add(APPS, Feeds(server).app, SiteFiles(server).app, Sitemap(server).app)


PART = WebPart(
    serve=_serve,
    extension=Extension(
        "feeds", "directory_server.features.feeds", head_parts=("head.html",), list_parts=("link.html",)
    ),
)


_DAY = "public, max-age=86400"

_GROUP = "User-agent: *\n"

_OPEN = """\
Allow: /$
Allow: /servers/
Allow: /docs
Allow: /assets/
Allow: /sitemap.xml
Disallow: /servers/*/
Disallow: /
"""
"""robots.txt (RFC 9309) of public pages. Lists are left out: there is no end of searches."""

_CLOSED = """\
Allow: /docs
Allow: /assets/
Disallow: /
"""
"""robots.txt of pages that need a sign-in, of which only the documentation can be read."""

_OFF = """\
Disallow: /
"""
"""robots.txt of a server without pages."""


@frozen
class SiteFiles:
    """Handles `/robots.txt`, `/favicon.ico` and `/opensearch.xml`."""

    app = App()

    _server: Server

    @app.get("/robots.txt")
    async def robots(self, request: Request) -> bytes:
        """Return the rules for robots. They need no sign-in, and do not count as a page."""
        access, url, robots = self._server.access, self._server.layout.url, self._server.all(ROBOTS)
        text = _OPEN if access.is_public else _OFF if access.is_off else _CLOSED
        allowed = [path for lines in robots for path in lines.allowed]
        documents = [("Sitemap", SITEMAP)] if access.is_public else []
        documents += [document for lines in robots for document in lines.documents]
        # Before the others: some robots obey the first rule that matches, not the longest.
        text = _GROUP + "".join(f"Allow: {path}\n" for path in allowed) + text
        if url and documents:
            text += "\n" + "".join(f"{name}: {url}{path}\n" for name, path in documents)
        return conditional_response(request, text.encode(), _DAY, **{"Content-Type": "text/plain; charset=utf-8"})

    @app.get("/favicon.ico")
    async def icon(self, request: Request) -> bytes:
        """Return the icon that browsers and feed readers request without a link to it."""
        return conditional_response(request, _icon(), _DAY, **{"Content-Type": "image/x-icon"})

    @app.get("/opensearch.xml")
    async def opensearch(self, request: Request) -> bytes:
        """Return the description with which a browser adds the search (OpenSearch 1.1).

        Raises NotFound without the setting web.url: the URLs in it must be absolute.
        """
        await self._server.access.identify(request)
        if not self._server.layout.url:
            raise NotFound("The search description needs the setting web.url.")
        body = self._server.layout.render(request, "feeds/opensearch.xml", {})
        kind = "application/opensearchdescription+xml; charset=utf-8"
        headers = {"Content-Type": kind, "Vary": "Accept-Language, Cookie"}
        return conditional_response(request, body, _DAY, **headers)


@cache
def _icon() -> bytes:
    return files(__package__).joinpath("favicon.ico").read_bytes()
