"""Dispatch: the handler of each route, and error responses in the format of the route's API."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import cache
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from attrs import frozen
from klein import Klein
from klein.interfaces import IKleinRequest
from twisted.python.components import registerAdapter
from twisted.python.failure import Failure
from werkzeug.exceptions import NotFound

from ..http import Request
from ..http.errors import ErrorResponse
from ..http.headers import query, values
from .error_responses import error_response, note_error, respond_with_error, rest_error_body
from .mcp import rpc_body
from .openapi import DOCUMENT
from .pages import Layout
from .registry import problem
from .responses import empty_response, json_response
from .routes import Api, ErrorFormat, Route, RoutingTable

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


@cache
def _application(rows: tuple[Route, ...]) -> Klein:
    """Return a Klein application with a rule for each row.

    All applications of a process share it, because werkzeug compiles these rules in 25 ms.
    """
    app = Klein()
    # //healthz is not the path /healthz.
    app.url_map.merge_slashes = False
    for row in rows:
        methods = None if row.method is None else [row.method]
        app.route(row.rule, methods=methods, endpoint=f"{row.method} {row.path}")(_dispatcher(row.handler))
    app.handle_errors(Exception)(Routes.respond_with_error)  # type: ignore[arg-type]  # it takes our Request
    return app


@cache
def _table(rows: tuple[Route, ...]) -> RoutingTable:
    return RoutingTable(rows)


def _dispatcher(name: str) -> Callable[..., Any]:
    """Return a function that calls the handler `name` of the `Routes` that Klein passes to it."""

    def dispatch(routes: Routes, request: Request, **parameters: str) -> Any:
        return routes.handler(name)(request, **parameters)

    return dispatch


class Routes:
    """The rows of the server and their handlers.

    `groups` are the objects whose attributes handle requests, by the first part of a row's handler: `rest.search` is
    the attribute `search` of the group `rest`. The layout renders error pages.
    """

    def __init__(self, rows: tuple[Route, ...], groups: Mapping[str, Any], layout: Layout) -> None:
        self.rows = rows
        self.table = _table(rows)
        self.groups = groups
        self._layout = layout
        self.app = _application(rows).__get__(self, Routes)

    def handler(self, name: str) -> Handler:
        """Return the handler of a row."""
        group, _, attribute = name.partition(".")
        handler: Handler = attrgetter(attribute)(self.groups[group])
        return handler

    def exact(self) -> dict[tuple[bytes, bytes], Handler]:
        """Return the handlers of the paths without parameters, by method and path."""
        return {
            (method.encode(), row.path.encode()): self.handler(row.handler)
            for row in self.rows
            if row.is_exact and row.method is not None
            for method in ([row.method, "HEAD"] if row.method == "GET" else [row.method])
        }

    def respond_with_error(self, request: Request, failure: Failure) -> bytes:
        """Respond to a failed request in the error format of its API."""
        api = self.table.find(request.path).api
        if api.errors == "problem" and isinstance(failure.value, NotFound) and self._has_slash(request.path):
            target = request.path[:-1] + (b"?" + query(request) if query(request) else b"")
            return empty_response(request, 308, Location=target.decode("latin-1"))
        if _wants_page(api, request):
            error = error_response(failure)
            note_error(request, error.code)
            return self._layout.error_page(request, error)
        body = respond_with_error(request, failure, error_body(api))
        if body and api.errors == "problem":
            request.setHeader("Content-Type", "application/problem+json")
        return body

    def _has_slash(self, path: bytes) -> bool:
        """Return whether `path` is a route with a slash at its end, which the official registry redirects."""
        return path.endswith(b"/") and self.table.find(path[:-1]).handler != ""


@frozen
class CommonHandlers:
    """Handles the OpenAPI document, OAuth discovery, and the static files of pages."""

    _layout: Layout

    async def openapi(self, request: Request) -> bytes:
        """Respond with the OpenAPI document."""
        return json_response(request, DOCUMENT)

    async def oauth(self, request: Request, _: str = "") -> bytes:
        """Respond to OAuth discovery and client registration (RFC 7591, section 3.2.2); clients show the text."""
        return json_response(request, _KEYS_NOT_OAUTH, 404)

    async def asset(self, request: Request, name: str) -> bytes:
        """Respond with a style sheet, script or image of the pages."""
        return self._layout.assets.get(request, name)


# Klein stores the state of a request here, for functions that these routes do not use.
registerAdapter(lambda _: SimpleNamespace(), Request, IKleinRequest)


def error_body(api: Api) -> Callable[[ErrorResponse], Any]:
    """Return the function that returns the JSON body of an error response of `api`."""
    return _ERROR_BODIES[api.errors]


def _wants_page(api: Api, request: Request) -> bool:
    is_page = api.errors == "page" and request.method != b"OPTIONS"
    return is_page and any("text/html" in accepted for accepted in values(request, "Accept"))
