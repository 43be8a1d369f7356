"""Dispatch: the handler of each route, and error responses in the format of the route's API."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping
from functools import cache
from operator import attrgetter
from typing import Any
from urllib.parse import unquote_to_bytes

from attrs import frozen
from klein import Klein
from twisted.python.failure import Failure
from werkzeug.exceptions import MethodNotAllowed, NotFound

from ..domain.ports.tracing import Trace, untraced
from ..http import Request
from ..http.errors import ErrorResponse, HttpError
from ..http.headers import query, values
from .audit import Auditor
from .error_responses import error_response, note_error, respond_with_error, rest_error_body
from .mcp import rpc_body
from .pages import Layout
from .registry import problem
from .responses import empty_response, json_response, list_path
from .routes import Api, ErrorFormat, Route, unmatched

_SLASHES = re.compile(rb"//+")

_KEYS_NOT_OAUTH = "This server uses API keys, not OAuth. Set the header Authorization: Bearer <key>."

_ERROR_BODIES: dict[ErrorFormat, Callable[[ErrorResponse], Any]] = {
    "REST": rest_error_body,
    "JSON-RPC": rpc_body,
    "problem": problem,
    # For clients of pages that do not accept HTML.
    "page": rest_error_body,
}


@frozen
class Match:
    """The row of a request's path, its handler, and the parameters in the path.

    The handler returns the body of the response, or None if it has taken over the connection.
    """

    route: Route
    handler: Callable[..., Coroutine[Any, Any, bytes | None]]
    parameters: Mapping[str, Any] = {}


@cache
def _application(rows: tuple[Route, ...]) -> Klein:
    """Return a Klein application with a rule for each row; its function returns the row.

    All applications of a process share it, because werkzeug compiles these rules in 25 ms.
    """
    app = Klein()
    # //healthz is not the path /healthz.
    app.url_map.merge_slashes = False
    for row in rows:
        methods = None if row.method is None else [row.method]
        app.route(row.rule, methods=methods, endpoint=f"{row.method} {row.path}")(_row_getter(row))
    return app


def _row_getter(row: Route) -> Callable[..., Any]:
    def get_row(_: None) -> Route:
        return row

    return get_row


class Routes:
    """The rows of the server and their handlers.

    `groups` are the objects whose attributes handle requests, by the first part of a row's handler: `rest.search` is
    the attribute `search` of the group `rest`. The layout renders error pages. The auditor records requests, None if
    there is no audit log. `trace` wraps all handlers.
    """

    def __init__(
        self,
        rows: tuple[Route, ...],
        groups: Mapping[str, Any],
        layout: Layout,
        auditor: Auditor | None = None,
        trace: Trace = untraced,
    ) -> None:
        self.rows = rows
        self.groups = groups
        self._layout = layout
        self._auditor = auditor
        self._trace = trace
        self.app = _application(rows)
        self._adapter = self.app.url_map.bind("")

    def exact(self) -> dict[tuple[bytes, bytes], Match]:
        """Return the matches of the paths without parameters, by method and path.

        OPTIONS is among them: a row with parameters and any method may match the same path.
        """
        matches: dict[tuple[bytes, bytes], Match] = {}
        methods: dict[str, list[str]] = {}
        for row in self.rows:
            if row.is_exact and row.method is not None:
                path, names = row.path.encode(), ["GET", "HEAD"] if row.method == "GET" else [row.method]
                matches |= {(name.encode(), path): Match(row, self._handler(row)) for name in names}
                allowed = methods.setdefault(row.path, [])
                allowed += names
                matches[b"OPTIONS", path] = Match(row, _fail, {"error": MethodNotAllowed(allowed)})
        return matches

    def match(self, method: str, path: bytes) -> Match:
        """Return the match of a request; its handler raises the error of an unknown path or method."""
        if not path or path.startswith(b"//"):
            # werkzeug treats two slashes at the beginning as one.
            return Match(unmatched(path), _fail, {"error": NotFound()})
        text = "/" + path[1:].decode("utf-8", "surrogateescape")
        try:
            row, parameters = self._row(text, method)
        except MethodNotAllowed as error:
            row, _ = self._row(text, min(error.valid_methods or ()))
            return Match(row, _fail, {"error": error})
        except NotFound as error:
            return Match(unmatched(path), _fail, {"error": error})
        try:
            unquote_to_bytes(path).decode()
            path.decode()
        except UnicodeDecodeError:
            reason = "The path must be UTF-8, percent-encoded."
            return Match(row, _fail, {"error": HttpError(400, "bad_request", reason)})
        return Match(row, self._handler(row), parameters)

    def _row(self, path: str, method: str) -> tuple[Route, Mapping[str, Any]]:
        rule, parameters = self._adapter.match(path, method, return_rule=True)
        row: Any = self.app.execute_endpoint(rule.endpoint, None)  # type: ignore[arg-type]  # it needs no request
        return row, parameters

    def _handler(self, row: Route) -> Callable[..., Coroutine[Any, Any, bytes | None]]:
        group, _, attribute = row.handler.partition(".")
        handler: Callable[..., Coroutine[Any, Any, bytes | None]] = attrgetter(attribute)(self.groups[group])
        return self._trace("request", handler if self._auditor is None else self._auditor.wrap(row, handler))

    def respond_with_error(self, request: Request, api: Api, failure: Failure) -> bytes:
        """Respond to a failed request in the error format of its API."""
        if isinstance(failure.value, NotFound) and (path := self._other_slashes(request.path)):
            target = path + (b"?" + query(request) if query(request) else b"")
            return empty_response(request, 308, Location=list_path(request) + target.decode("latin-1"))
        if _wants_page(api, request):
            error = error_response(failure)
            note_error(request, error.code)
            return self._layout.error_page(request, error)
        body = respond_with_error(request, failure, error_body(api))
        if body and api.errors == "problem":
            request.setHeader("Content-Type", "application/problem+json")
        return body

    def _other_slashes(self, path: bytes) -> bytes:
        """Return the path of a route that differs from the unknown `path` in doubled or final slashes, else nothing."""
        single = _SLASHES.sub(b"/", path)
        for other in (single, single.removesuffix(b"/")):
            # The site knows lists.
            if other != path and (other.startswith(b"/r/") or self.match("GET", other).route.handler):
                return other
        return b""


@frozen
class CommonHandlers:
    """Handles the OpenAPI `document`, OAuth discovery, and the static files of pages."""

    _layout: Layout
    _document: bytes
    _oauth_hint: str = ""

    async def openapi(self, request: Request) -> bytes:
        """Respond with the OpenAPI document."""
        return json_response(request, self._document)

    async def oauth(self, request: Request, _: str = "") -> bytes:
        """Respond to OAuth discovery and client registration (RFC 7591, section 3.2.2); clients show the text."""
        return no_oauth(request, self._oauth_hint)

    async def asset(self, request: Request, name: str) -> bytes:
        """Respond with a style sheet, script or image of the pages."""
        return self._layout.assets.get(request, name)


def no_oauth(request: Request, hint: str = "") -> bytes:
    """Respond that there is no OAuth document at a path. `hint` says where to look for it."""
    return json_response(request, {"error": "invalid_request", "error_description": hint or _KEYS_NOT_OAUTH}, 404)


def error_body(api: Api) -> Callable[[ErrorResponse], Any]:
    """Return the function that returns the JSON body of an error response of `api`."""
    return api.error_body or _ERROR_BODIES[api.errors]


async def _fail(_: Request, error: Exception) -> bytes:
    """Raise the error of a request without a handler."""
    raise error


def _wants_page(api: Api, request: Request) -> bool:
    is_page = api.errors == "page" and request.method != b"OPTIONS"
    return is_page and any("text/html" in accepted for accepted in values(request, "Accept"))
