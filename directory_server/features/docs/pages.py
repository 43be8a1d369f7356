"""Handlers of `/docs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from attrs import frozen
from markupsafe import Markup, escape

from ... import serialization
from ...domain.accounts import Account
from ...domain.errors import NotFound
from ...feature.server import Server
from ...http import Request
from ...web.account import input_prefix
from ...web.forms import parameters
from ...web.pages import Address
from ...web.responses import json_response
from ...web.routes import App
from .api import Api, ApiPages, api_pages, body_of, example_path, inline, kind_of
from .search import MAX_QUERY, PARTS, contents, find

API = "api"
"""The path of the REST API's page below /docs/."""

_OBJECTS = f"{API}/objects"

_PUBLISHING = f"{API}/publishing"

EXAMPLE_URL = "http://127.0.0.1:8080"
"""URL of the server in the examples of the documents."""

MCP_PATH = "/api/open/mcp"


def paths() -> Sequence[str]:
    """Return the paths of all pages."""
    return ["/docs", *(f"/docs/{path}" for path in (API, _OBJECTS, _PUBLISHING, *contents().pages))]


@frozen
class DocsPages:
    """Handles `/docs`, `/docs/api`, `/docs/api/objects`, `/docs/api/publishing` and `/docs/{path}`."""

    app = App()

    _server: Server

    @app.get("/docs")
    async def index(self, request: Request) -> bytes:
        """Return the table of contents or, with `q`, the pages that have all words."""
        viewer = await self._server.access.identify(request)
        words = parameters(request).get("q", "")[:MAX_QUERY].strip()
        values = {**self._navigation(""), "words": words, "results": find(contents(), words) if words else []}
        return self._page(request, "/docs", "index", values, viewer, indexed=not words)

    @app.get("/docs/api")
    async def api(self, request: Request) -> bytes:
        """Return the operations of the REST API, from the OpenAPI document."""
        return await self._api(request, API, _api(self._server.openapi).operations)

    @app.get("/docs/api/objects")
    async def objects(self, request: Request) -> bytes:
        """Return the objects of the REST API, from the OpenAPI document."""
        return await self._api(request, _OBJECTS, _api(self._server.openapi).objects)

    @app.get("/docs/api/publishing")
    async def publishing(self, request: Request) -> bytes:
        """Return the operations of publishers, from the OpenAPI document."""
        return await self._api(request, _PUBLISHING, _api(self._server.openapi).publishing)

    @app.get("/docs/{path:path}")
    async def get(self, request: Request, path: str) -> bytes:
        """Return a page or an image. Raises NotFound."""
        viewer = await self._server.access.identify(request)
        found = contents()
        if path in found.images:
            return json_response(request, found.images[path], 200, **{"Content-Type": "image/svg+xml"})
        page = found.pages.get(path)
        if page is None:
            raise NotFound("There is no such page in the documentation. /docs lists all pages.")
        html = _with_url(page.html, self._server.layout.base_url(request)) if page.part == "use" else page.html
        sections = found.sections(page.parent)[1:]
        level = page.parent.count("/") + 1
        links, chapters = (
            page.html.count(f'href="/docs/{path}/'),
            sum(section.path.count("/") == level for section in sections),
        )
        values = {
            **self._navigation(page.parent),
            "page": page,
            "html": html,
            "sections": sections,
            # Documents with many sections list them themselves, by subject.
            "lists_sections": path == page.parent and links < chapters / 2,
        }
        return self._page(request, f"/docs/{page.path}", "page", values, viewer)

    def _page(
        self,
        request: Request,
        path: str,
        template: str,
        values: Mapping[str, Any],
        viewer: Account | None,
        *,
        indexed: bool = True,
    ) -> bytes:
        address = Address(path, indexed=indexed)
        return self._server.layout.page(request, f"docs/{template}.html", values, account=viewer, address=address)

    async def _api(self, request: Request, path: str, api: Api) -> bytes:
        viewer = await self._server.access.identify(request)
        values = {
            **self._navigation(API),
            "api": api,
            "base_url": self._server.layout.base_url(request),
            **{"kind_of": kind_of, "body_of": body_of, "inline": inline, "example_path": example_path},
        }
        return self._page(request, f"/docs/{path}", "api", values, viewer)

    def _navigation(self, current: str) -> dict[str, Any]:
        documents = contents().documents
        return {"parts": {part: documents(part) for part in PARTS}, "current": current}


def _with_url(html: Markup, url: str) -> Markup:
    """Return `html` with the server at `url` in place of that of the examples."""
    example_id, own_id = (input_prefix(f"{base}{MCP_PATH}") for base in (EXAMPLE_URL, url))
    return Markup(html.replace(EXAMPLE_URL, str(escape(url))).replace(example_id, own_id))


@cache
def _api(document: bytes) -> ApiPages:
    return api_pages(serialization.decode(document), f"/docs/{_OBJECTS}")
