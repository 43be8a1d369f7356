"""Dispatch: the handler of each route, and error responses in the format of the route's API."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, ClassVar

from attrs import frozen
from klein import Klein
from klein.interfaces import IKleinRequest
from twisted.python.components import registerAdapter
from twisted.python.failure import Failure
from werkzeug.exceptions import NotFound

from ..http import Request
from ..http.errors import ErrorResponse
from ..http.headers import query, values
from .account import AccountPages
from .admin import AdminPages
from .changes import ChangesHandler
from .docs import DocsPages
from .error_responses import error_response, note_error, respond_with_error, rest_error_body
from .health import Health
from .mcp import McpEndpoint, rpc_body
from .openapi import DOCUMENT
from .pages import EntryPage, Feeds, PageHandlers, ReportPages, SearchPage, SiteFiles, Sitemap
from .publish import PublishHandlers
from .registry import RegistryHandlers, problem
from .registry_status import RegistryStatus
from .responses import empty_response, json_response
from .rest import RestHandlers
from .routes import ROUTES, TABLE, Api, ErrorFormat

_KEYS_NOT_OAUTH = {
    "error": "invalid_request",
    "error_description": "This server uses API keys, not OAuth. Set the header Authorization: Bearer <key>.",
}

_ERROR_BODIES: dict[ErrorFormat, Callable[[ErrorResponse], Any]] = {
    "REST": rest_error_body,
    "JSON-RPC": rpc_body,
    "problem": problem,
    # For clients of pages that do not accept HTML.
    "page": rest_error_body,
}

Handler = Callable[[Request], Coroutine[Any, Any, bytes | None]]
"""Return the body of the response, or None if the handler has taken over the connection."""


def _application() -> Klein:
    """Return a Klein application with a rule for each row of the routing table.

    All applications of a process share it, because werkzeug compiles these rules in 25 ms.
    """
    app = Klein()
    # //healthz is not the path /healthz.
    app.url_map.merge_slashes = False
    for route in ROUTES:
        endpoint = f"{route.method} {route.path}"
        methods = None if route.method is None else [route.method]
        app.route(route.rule, methods=methods, endpoint=endpoint)(_dispatcher(route.handler))
    return app


def _dispatcher(name: str) -> Callable[..., Any]:
    """Return a function that calls the handler `name` of the `Routes` that Klein passes to it."""
    handler_of = attrgetter(name)

    def dispatch(routes: Routes, request: Request, **parameters: str) -> Any:
        return handler_of(routes)(request, **parameters)

    return dispatch


@frozen(eq=False)
class Routes:
    """Handlers of the routing table. A row names its handler by attribute, such as `rest.search`."""

    rest: RestHandlers
    changes: ChangesHandler
    mcp: McpEndpoint
    registry: RegistryHandlers
    status: RegistryStatus
    publish: PublishHandlers
    health: Health
    pages: PageHandlers
    search: SearchPage
    feeds: Feeds
    site_files: SiteFiles
    sitemap: Sitemap
    account: AccountPages
    docs: DocsPages
    entry: EntryPage
    reports: ReportPages
    admin: AdminPages

    app: ClassVar[Klein] = _application()

    def exact(self) -> dict[tuple[bytes, bytes], Handler]:
        """Return the handlers of the paths without parameters, by method and path."""
        return {
            (method.encode(), route.path.encode()): attrgetter(route.handler)(self)
            for route in ROUTES
            if route.is_exact and route.method is not None
            for method in ([route.method, "HEAD"] if route.method == "GET" else [route.method])
        }

    async def openapi(self, request: Request) -> bytes:
        """Respond with the OpenAPI document."""
        return json_response(request, DOCUMENT)

    async def oauth(self, request: Request, _: str = "") -> bytes:
        """Respond to OAuth discovery and client registration (RFC 7591, section 3.2.2); clients show the text."""
        return json_response(request, _KEYS_NOT_OAUTH, 404)

    async def asset(self, request: Request, name: str) -> bytes:
        """Respond with a style sheet, script or image of the pages."""
        return self.pages.layout.assets.get(request, name)

    @app.handle_errors(Exception)  # type: ignore[arg-type]  # it takes our Request
    def respond_with_error(self, request: Request, failure: Failure) -> bytes:
        """Respond to a failed request in the error format of its API."""
        api = TABLE.find(request.path).api
        if api.errors == "problem" and isinstance(failure.value, NotFound) and _has_slash(request.path):
            target = request.path[:-1] + (b"?" + query(request) if query(request) else b"")
            return empty_response(request, 308, Location=target.decode("latin-1"))
        if _wants_page(api, request):
            error = error_response(failure)
            note_error(request, error.code)
            return self.pages.layout.error_page(request, error)
        body = respond_with_error(request, failure, error_body(api))
        if body and api.errors == "problem":
            request.setHeader("Content-Type", "application/problem+json")
        return body


# Klein stores the state of a request here, for functions that these routes do not use.
registerAdapter(lambda _: SimpleNamespace(), Request, IKleinRequest)


def error_body(api: Api) -> Callable[[ErrorResponse], Any]:
    """Return the function that returns the JSON body of an error response of `api`."""
    return _ERROR_BODIES[api.errors]


def _has_slash(path: bytes) -> bool:
    """Return whether `path` is a route with a slash at its end, which the official registry redirects."""
    return path.endswith(b"/") and TABLE.find(path[:-1]).handler != ""


def _wants_page(api: Api, request: Request) -> bool:
    is_page = api.errors == "page" and request.method != b"OPTIONS"
    return is_page and any("text/html" in accepted for accepted in values(request, "Accept"))
