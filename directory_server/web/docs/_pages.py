"""Handlers of `/docs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from attrs import frozen
from markupsafe import Markup

from ... import serialization
from ...domain.errors import NotFound
from ...http import Request
from ..openapi import DOCUMENT, SCHEMAS_OF_PUBLISHING
from ..pages import Address, Layout, PageAccess, Viewer
from ..responses import json_response
from ._api import Api, ApiPages, api_pages

API = "api"
"""The path of the REST API's page below /docs/."""

_OBJECTS = f"{API}/objects"

_PUBLISHING = f"{API}/publishing"

_CONTENT = "pages.json"


@frozen
class Document:
    """A page: its path below /docs/, its title, the path of its document's first page, and its HTML."""

    path: str
    title: str
    parent: str
    html: Markup


@frozen
class Contents:
    """The pages by path, in the order of the table of contents, and the images by name."""

    pages: Mapping[str, Document]
    images: Mapping[str, bytes]

    def sections(self, parent: str) -> Sequence[Document]:
        """Return the pages of the document at `parent`."""
        return [page for page in self.pages.values() if page.parent == parent]

    @property
    def documents(self) -> Sequence[Document]:
        """The first page of each document, decisions left out: they have an index of their own."""
        return [each for each in self.pages.values() if each.path == each.parent and "/" not in each.path]


@cache
def contents() -> Contents:
    """Return the pages of the package; none if it was not built, as in a source tree that was never installed."""
    source = files(__package__).joinpath(_CONTENT)
    if not source.is_file():
        return Contents({}, {})
    read = serialization.decode(source.read_bytes())
    pages = (Document(each["path"], each["title"], each["parent"], Markup(each["html"])) for each in read["pages"])
    return Contents({page.path: page for page in pages}, {name: text.encode() for name, text in read["files"].items()})


def paths() -> Sequence[str]:
    """Return the paths of all pages below /docs/."""
    return [API, _OBJECTS, _PUBLISHING, *contents().pages]


@frozen
class DocsPages:
    """Handles `/docs`, `/docs/api`, `/docs/api/objects`, `/docs/api/publishing` and `/docs/{path}`."""

    _layout: Layout
    _access: PageAccess

    async def index(self, request: Request) -> bytes:
        """Return the table of contents."""
        viewer = await self._access.identify(request)
        return self._page(request, "/docs", "index", self._navigation(""), viewer)

    async def api(self, request: Request) -> bytes:
        """Return the operations of the REST API, from the OpenAPI document."""
        return await self._api(request, API, _api().operations)

    async def objects(self, request: Request) -> bytes:
        """Return the objects of the REST API, from the OpenAPI document."""
        return await self._api(request, _OBJECTS, _api().objects)

    async def publishing(self, request: Request) -> bytes:
        """Return the operations of publishers, from the OpenAPI document."""
        return await self._api(request, _PUBLISHING, _api().publishing)

    async def get(self, request: Request, path: str) -> bytes:
        """Return a page or an image. Raises NotFound."""
        viewer = await self._access.identify(request)
        found = contents()
        if path in found.images:
            return json_response(request, found.images[path], 200, **{"Content-Type": "image/svg+xml"})
        page = found.pages.get(path)
        if page is None:
            raise NotFound("There is no such page in the documentation. /docs lists all pages.")
        values = {**self._navigation(page.parent), "page": page, "sections": found.sections(page.parent)}
        return self._page(request, f"/docs/{page.path}", "page", values, viewer)

    def _page(
        self, request: Request, path: str, template: str, values: Mapping[str, Any], viewer: Viewer | None
    ) -> bytes:
        return self._layout.page(
            request, f"docs/{template}.html", values, account=viewer, address=Address(path, indexed=True)
        )

    async def _api(self, request: Request, path: str, api: Api) -> bytes:
        viewer = await self._access.identify(request)
        values = {**self._navigation(API), "api": api}
        return self._page(request, f"/docs/{path}", "api", values, viewer)

    def _navigation(self, current: str) -> dict[str, Any]:
        return {"documents": contents().documents, "current": current}


@cache
def _api() -> ApiPages:
    return api_pages(serialization.decode(DOCUMENT), SCHEMAS_OF_PUBLISHING, f"/docs/{_OBJECTS}")
