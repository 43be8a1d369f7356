"""Files and pages for programs that read the directory: robots.txt, the sitemap, OpenSearch, the icon and the feed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from xml.sax.saxutils import escape

from attrs import frozen

from ...domain.errors import NotFound
from ...domain.ports.storage import Store
from ...feature.parts import PUBLIC_PATHS, ROBOTS, WebPart
from ...feature.server import Server
from ...http import Request
from ...web.forms import parameters
from ...web.responses import accepts_gzip, conditional_response, gzip
from ...web.routes import APPS, App
from .feed import Feeds

SITEMAP = "/sitemap.xml"

MAX_URLS = 5_000
"""URLs of a part."""

USUAL_URLS = 4_500
"""URLs of a part on average. Ids are hashes, so parts of equal ranges of ids differ by a few hundred at most."""

_DOCS = "docs"
"""The name of the part with the pages beside entries. The others have numbers."""

_HOUR = "public, max-age=3600"

HEADERS = {
    "Content-Type": "application/xml; charset=utf-8",
    # A browser must not run anything in a sitemap that it shows as a document.
    "Content-Security-Policy": "default-src 'none'",
    "Vary": "Accept-Encoding, Cookie",
}

_NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


@frozen
class Sitemap:
    """Handles `/sitemap.xml`: an index of parts, and each part as `?page=`."""

    app = App()

    _server: Server

    @app.get("/sitemap.xml")
    async def get(self, request: Request) -> bytes:
        """Return the index, or the part `page`.

        Raises NotFound for an unknown part, without public pages, and without the setting web.url: sitemaps have
        absolute URLs.
        """
        server = self._server
        viewer = await server.access.identify(request)
        if not server.access.is_public or not server.layout.url:
            raise NotFound("The sitemap needs the setting web.url and public pages.")
        store = server.catalogue.of(request).store
        parts = max(1, -(-await store.count() // USUAL_URLS))
        page = parameters(request).get("page")
        if page is None:
            root, item = "sitemapindex", "sitemap"
            paths = [f"{SITEMAP}?page={name}" for name in (_DOCS, *range(1, parts + 1))]
        else:
            root, item = "urlset", "url"
            paths = await self._paths(store, page, parts)
        is_gzip = accepts_gzip(request)
        # A part has 450 KB, which take 20 ms to write and compress.
        body = await server.offload(_document, root, item, server.layout.url, paths, is_gzip)
        headers = HEADERS | ({"Content-Encoding": "gzip"} if is_gzip else {})
        return conditional_response(request, body, _HOUR if viewer is None else "private, no-cache", **headers)

    async def _paths(self, store: Store, page: str, parts: int) -> list[str]:
        """Return the paths of a part. Raises NotFound."""
        if page == _DOCS:
            return ["/", *(path for paths in self._server.all(PUBLIC_PATHS) for path in paths())]
        number = int(page) if page.isascii() and page.isdecimal() and len(page) < 7 else 0
        if not 1 <= number <= parts:
            raise NotFound("The sitemap has no such part.")
        return [f"/servers/{mcp_id}" for mcp_id in await store.ids(*_range(number, parts), MAX_URLS)]


def _document(root: str, item: str, url: str, paths: Sequence[str], is_gzip: bool) -> bytes:
    """Return the document with `paths` of the server at `url`, compressed if `is_gzip`."""
    url = escape(url)
    items = "".join(f"<{item}><loc>{url}{escape(path)}</loc></{item}>\n" for path in paths)
    body = f'<?xml version="1.0" encoding="utf-8"?>\n<{root} {_NAMESPACE}>\n{items}</{root}>\n'.encode()
    return gzip(body) if is_gzip else body


def _range(number: int, parts: int) -> tuple[str, str]:
    """Return the ids before and after those of a part. Ids are UUIDs in lower case."""
    first, last = ((place << 32) // parts for place in (number - 1, number))
    return f"{first:08x}", f"{last:08x}" if number < parts else "g"


def _serve(server: Server) -> None:
    server.add(APPS, Feeds(server).app, SiteFiles(server).app, Sitemap(server).app)


PART = WebPart(
    serve=_serve,
    head_parts=("head.html",),
    list_parts=("link.html",),
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
