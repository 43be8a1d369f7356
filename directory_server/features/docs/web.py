"""The pages of the documentation, and of the REST API from the OpenAPI document."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

from attrs import frozen
from markupsafe import Markup, escape

from ... import serialization
from ...domain.accounts import Account
from ...domain.errors import NotFound
from ...feature.parts import PUBLIC_PATHS, WebPart
from ...feature.server import Server
from ...http import Request
from ...web.account import input_prefix
from ...web.forms import parameters
from ...web.pages import Address
from ...web.responses import json_response
from ...web.routes import APPS, App
from .search import MAX_QUERY, PARTS, contents, find

_SCHEMA = "#/components/schemas/"

Operation = tuple[str, str, Mapping[str, Any]]
"""The path of an operation, its method in upper case, and what the document has of it."""


@frozen
class Api:
    """A part of the API, on one page.

    `description` has one paragraph for each item. `objects` is the path of the page with the objects that the
    operations name, empty for this page.
    """

    description: Sequence[str]
    operations: Sequence[Operation]
    schemas: Mapping[str, Mapping[str, Any]]
    objects: str = ""


@frozen
class ApiPages:
    """The pages of the API: operations of readers, their objects, and all of publishers. Each is below 30 KB."""

    operations: Api
    objects: Api
    publishing: Api


def api_pages(document: Mapping[str, Any], objects: str) -> ApiPages:
    """Return the pages of an OpenAPI 3.1 document. `objects` is the path of the page of objects."""
    schemas: Mapping[str, Any] = document["components"]["schemas"]
    operations = [
        (path, method.upper(), {"security": document["security"], **operation})
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    description = document["info"]["description"].strip().split("\n\n")
    publishing = _schema_names(document, [item for path, item in document["paths"].items() if _is_publishing(path)])
    reading = _schema_names(document, [item for path, item in document["paths"].items() if not _is_publishing(path)])
    of_publishers = {name: schema for name, schema in schemas.items() if name in publishing}
    # Some are those of readers, too: each page has all that it links.
    others = {name: schema for name, schema in schemas.items() if name in reading or name not in publishing}
    return ApiPages(
        operations=Api(
            description, [operation for operation in operations if not _is_publishing(operation[0])], {}, objects
        ),
        objects=Api((), (), others),
        publishing=Api(
            description, [operation for operation in operations if _is_publishing(operation[0])], of_publishers
        ),
    )


def _is_publishing(path: str) -> bool:
    """Return whether `path` is one of the registry API, of which the document has the operations of publishers."""
    return path.startswith("/v0.1/")


def _schema_names(document: Mapping[str, Any], value: object) -> Collection[str]:
    """Return the names of the schemas that `value` refers to, directly or through others."""
    names: set[str] = set()
    waiting = [value]
    while waiting:
        match waiting.pop():
            case {"$ref": str(reference)} if reference.startswith(_SCHEMA):
                name = reference.removeprefix(_SCHEMA)
                waiting += [] if name in names else [document["components"]["schemas"][name]]
                names.add(name)
            case dict(members):
                waiting += members.values()
            case list(items):
                waiting += items
    return names


def example_path(path: str, operation: Mapping[str, Any]) -> str:
    """Return the path and query of an operation, with examples of its required parameters and of `fields`."""
    query = []
    for parameter in operation.get("parameters", ()):
        name, example = parameter["name"], next(iter(parameter["schema"].get("examples", ())), "")
        text = ",".join(example) if isinstance(example, list) else str(example)
        if parameter["in"] == "path" and text:
            path = path.replace(f"{{{name}}}", quote(text))
        elif parameter["in"] == "query" and (parameter.get("required") or name == "fields"):
            query.append((name, text))
    return f"{path}?{urlencode(query, safe=',')}" if query else path


def body_of(response: Mapping[str, Any]) -> str:
    """Return the name of the schema of a response, empty if it has none."""
    schemas = (kind_of(content.get("schema", {}))[1] for content in response.get("content", {}).values())
    return next(filter(None, schemas), "")


@cache
def inline(text: str) -> Markup:
    """Return a text of the document, in which backquotes mark code, as HTML."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def kind_of(schema: Mapping[str, Any]) -> tuple[str, str]:
    """Return the type of `schema` in words, and the name of the schema that it refers to, or an empty text."""
    if reference := schema.get("$ref"):
        name = str(reference).removeprefix(_SCHEMA)
        return name, name
    for key in ("anyOf", "oneOf"):
        if key in schema:
            kinds = [kind_of(branch) for branch in schema[key]]
            return " or ".join(kind for kind, _ in kinds), next((link for _, link in kinds if link), "")
    type_ = schema.get("type", "string" if "enum" in schema else "any")
    types = [type_] if isinstance(type_, str) else list(type_)
    if "array" in types and "items" in schema:
        kind, link = kind_of(schema["items"])
        return " or ".join([f"list of {kind}", *(name for name in types if name != "array")]), link
    return " or ".join(types), ""


API = "api"
"""The path of the REST API's page below /docs/."""

_OBJECTS = f"{API}/objects"

_PUBLISHING = f"{API}/publishing"

EXAMPLE_URL = "http://127.0.0.1:8080"
"""URL of the server in the examples of the documents."""

MCP_PATH = "/api/open/mcp"


def paths() -> Sequence[str]:
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
        return await self._api(request, API, _api(self._server.openapi).operations)

    @app.get("/docs/api/objects")
    async def objects(self, request: Request) -> bytes:
        return await self._api(request, _OBJECTS, _api(self._server.openapi).objects)

    @app.get("/docs/api/publishing")
    async def publishing(self, request: Request) -> bytes:
        return await self._api(request, _PUBLISHING, _api(self._server.openapi).publishing)

    @app.get("/docs/{path:path}")
    async def get(self, request: Request, path: str) -> bytes:
        viewer = await self._server.access.identify(request)
        documents = contents()
        if path in documents.images:
            return json_response(request, documents.images[path], 200, **{"Content-Type": "image/svg+xml"})
        page = documents.pages.get(path)
        if page is None:
            raise NotFound("There is no such page in the documentation. /docs lists all pages.")
        html = _with_url(page.html, self._server.layout.base_url(request)) if page.part == "use" else page.html
        sections = documents.sections(page.parent)[1:]
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


def _serve(server: Server) -> None:
    server.add(APPS, DocsPages(server).app)
    server.add(PUBLIC_PATHS, paths)


PART = WebPart(
    serve=_serve,
)
