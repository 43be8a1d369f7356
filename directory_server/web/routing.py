"""Dispatch: the handler of each route, and error responses in the format of the route's API."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import MethodType
from typing import Any
from urllib.parse import unquote_to_bytes

from attrs import frozen
from twisted.python.failure import Failure
from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.routing import Map, Rule

from ..domain.ports.tracing import Trace, untraced
from ..http import Request
from ..http.errors import HttpError
from ..http.headers import query, values
from .audit import Auditor
from .error_responses import error_response, note_error, respond_with_error
from .pages import Layout
from .responses import empty_response, json_response, list_path
from .routes import OAUTH, PAGES, REST, Api, App, Handler, Route, unmatched

_SLASHES = re.compile(rb"//+")

_KEYS_NOT_OAUTH = "This server uses API keys, not OAuth. Set the header Authorization: Bearer <key>."


@frozen
class Match:
    """The route of a request's path, its handler, and the parameters in the path."""

    route: Route
    handler: Handler
    parameters: Mapping[str, Any] = {}


@cache
def _tree(routes: tuple[Route, ...]) -> tuple[Map, Mapping[str, int]]:
    """Return the rules of routes as one tree, and the place of each route by its name.

    All servers of a process share it, because werkzeug compiles these rules in 25 ms.
    """
    rules = [Rule(route.rule, methods=route.methods, endpoint=route.name) for route in routes]
    return Map(rules, merge_slashes=False), {route.name: place for place, route in enumerate(routes)}


class Routes:
    """The routes of `apps`, whose rules are one tree. Paths without parameters are looked up in a table first.

    The layout renders error pages. The auditor records requests, None if there is no audit log. `trace` wraps all
    handlers.
    """

    def __init__(
        self,
        apps: Sequence[App],
        layout: Layout,
        auditor: Auditor | None = None,
        trace: Trace = untraced,
    ) -> None:
        self.apps = apps
        self.routes = tuple(route for app in apps for route in app.routes)
        self._owners = [app.handlers for app in apps for _ in app.routes]
        self._layout = layout
        self._auditor = auditor
        self._trace = trace
        self.rules, self._places = _tree(self.routes)
        self._adapter = self.rules.bind("")

    def exact(self) -> dict[tuple[bytes, bytes], Match]:
        """Return the matches of the paths without parameters, by method and path.

        OPTIONS is among them: a row with parameters and any method may match the same path.
        """
        matches: dict[tuple[bytes, bytes], Match] = {}
        methods: dict[str, list[str]] = {}
        for place, route in enumerate(self.routes):
            if route.is_exact and route.method is not None:
                path, names = route.path.encode(), ["GET", "HEAD"] if route.method == "GET" else [route.method]
                matches |= {(name.encode(), path): Match(route, self._handler(place)) for name in names}
                allowed = methods.setdefault(route.path, [])
                allowed += names
                matches[b"OPTIONS", path] = Match(route, _fail, {"error": MethodNotAllowed(allowed)})
        return matches

    def match(self, method: str, path: bytes) -> Match:
        """Return the match of a request; its handler raises the error of an unknown path or method."""
        if not path or path.startswith(b"//"):
            # werkzeug treats two slashes at the beginning as one.
            return Match(unmatched(path), _fail, {"error": NotFound()})
        text = "/" + path[1:].decode("utf-8", "surrogateescape")
        try:
            place, parameters = self._find(text, method)
        except MethodNotAllowed as error:
            place, _ = self._find(text, min(error.valid_methods or ()))
            return Match(self.routes[place], _fail, {"error": error})
        except NotFound as error:
            return Match(unmatched(path), _fail, {"error": error})
        try:
            unquote_to_bytes(path).decode()
            path.decode()
        except UnicodeDecodeError:
            reason = "The path must be UTF-8, percent-encoded."
            return Match(self.routes[place], _fail, {"error": HttpError(400, "bad_request", reason)})
        return Match(self.routes[place], self._handler(place), parameters)

    def _find(self, path: str, method: str) -> tuple[int, Mapping[str, Any]]:
        """Return the place of the route of a path, and the parameters in the path."""
        rule, parameters = self._adapter.match(path, method, return_rule=True)
        return self._places[rule.endpoint], parameters

    def _handler(self, place: int) -> Handler:
        route = self.routes[place]
        assert route.handler is not None
        handler: Handler = MethodType(route.handler, self._owners[place])
        return self._trace("request", handler if self._auditor is None else self._auditor.wrap(route, handler))

    def respond_with_error(self, request: Request, api: Api, failure: Failure) -> bytes:
        """Respond to a failed request in the error format of its API."""
        if isinstance(failure.value, NotFound) and (path := self._other_slashes(request.path)):
            target = path + (b"?" + query(request) if query(request) else b"")
            return empty_response(request, 308, Location=list_path(request) + target.decode("latin-1"))
        if _wants_page(api, request):
            error = error_response(failure)
            note_error(request, error.code)
            return self._layout.error_page(request, error)
        return respond_with_error(request, failure, api.error_body, api.error_type)

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

    app = App(OAUTH)

    _layout: Layout
    _document: bytes
    _oauth_hint: str = ""

    @app.get("/api/open/openapi.json", api=REST)
    async def openapi(self, request: Request) -> bytes:
        return json_response(request, self._document)

    @app.any("/.well-known/{_:path}", "/api/open/mcp/.well-known/{_:path}", "/register")
    async def oauth(self, request: Request, _: str = "") -> bytes:
        """Respond to OAuth discovery and client registration (RFC 7591, section 3.2.2); clients show the text."""
        return no_oauth(request, self._oauth_hint)

    @app.get("/assets/{name}", api=PAGES)
    async def asset(self, request: Request, name: str) -> bytes:
        return self._layout.assets.get(request, name)


def no_oauth(request: Request, hint: str = "") -> bytes:
    """Respond that there is no OAuth document at a path. `hint` says where to look for it."""
    return json_response(request, {"error": "invalid_request", "error_description": hint or _KEYS_NOT_OAUTH}, 404)


async def _fail(_: Request, error: Exception) -> bytes:
    """Raise the error of a request without a handler."""
    raise error


def _wants_page(api: Api, request: Request) -> bool:
    is_page = api.has_pages and request.method != b"OPTIONS"
    return is_page and any("text/html" in accepted for accepted in values(request, "Accept"))
