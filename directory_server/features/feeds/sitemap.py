"""The list of all pages for search engines (sitemaps.org, protocol 0.90)."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from attrs import frozen

from ...domain.errors import NotFound
from ...domain.ports.storage import Store
from ...feature.parts import PUBLIC_PATHS
from ...feature.server import Server
from ...http import Request
from ...web.forms import parameters
from ...web.responses import accepts_gzip, conditional_response, gzip
from ...web.routes import App

PATH = "/sitemap.xml"

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
            paths = [f"{PATH}?page={name}" for name in (_DOCS, *range(1, parts + 1))]
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
