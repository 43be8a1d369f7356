"""Routes: decorators that make methods of a class the handlers of paths, and the APIs that paths belong to."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Sequence
from secrets import token_hex
from typing import Any, Literal, TypeVar

from attrs import field, frozen
from klein import Klein
from klein.resource import KleinResource
from twisted.internet.interfaces import IAddress, IProtocol
from twisted.python.failure import Failure

from ..domain.ports.points import Point, Single
from ..http import Message, Request
from ..http.errors import ErrorResponse, HttpError
from .access_log import UNMATCHED
from .error_responses import problem, respond_with_error, rest_error_body


@frozen
class Api:
    """A family of paths with the same error format and the same rules for web pages.

    `error_body` returns the body of an error response, of the media type `error_type`. With `has_pages`, clients that
    accept `text/html` get a page instead. With `any_origin`, pages of every origin may read the responses (CORS), also
    those to POST if they may write. With `any_host`, requests may name any host and origin: load balancers check the
    health of a server by its address.
    """

    name: str
    error_body: Callable[[ErrorResponse], Any] = rest_error_body
    error_type: str = "application/json"
    has_pages: bool = False
    any_origin: Literal["", "read", "write"] = ""
    any_host: bool = False


REST = Api("REST")
REGISTRY = Api("registry", problem, "application/problem+json", any_origin="read")
STATUS = Api("status", any_host=True)
OAUTH = Api("OAuth")
PAGES = Api("pages", has_pages=True)

Handler = Callable[..., Coroutine[Any, Any, bytes | None]]
"""Returns the body of a response, or None if it has taken over the connection."""

HandlerT = TypeVar("HandlerT", bound=Callable[..., Any])


@frozen
class Route:
    """A path template, its method (None: any), its API, and the function that handles it.

    In a template `{name}` stands for one path segment, and `{name:path}` for one or more. `changes` says that a GET
    request changes something, as the return of a browser from a sign-in elsewhere does.
    """

    path: str
    method: str | None
    api: Api
    handler: Handler | None = None
    changes: bool = False
    label: str = field(init=False)

    @label.default
    def _label(self) -> str:
        """Return the path template for logs, metrics and docs/protocol.md: `*` stands for several segments."""
        return _PARAMETER.sub(lambda match: "*" if match[2] else match[0], self.path) if self.handler else UNMATCHED

    @property
    def rule(self) -> str:
        """Return the path template in werkzeug's syntax."""
        return _PARAMETER.sub(lambda match: f"<path:{match[1]}>" if match[2] else f"<{match[1]}>", self.path)

    @property
    def methods(self) -> Sequence[str] | None:
        """Return the methods as werkzeug takes them, None for any."""
        return None if self.method is None else [self.method]

    @property
    def name(self) -> str:
        """Return the name of the route in a Klein application."""
        return f"{self.method} {self.path}"

    @property
    def is_exact(self) -> bool:
        """Return whether the path has no parameters."""
        return "{" not in self.path


_PARAMETER = re.compile(r"\{(\w+)(:path)?\}")


class App(Klein):
    """The handlers of an API or of some pages: a Klein application whose routes are methods of a class.

    The methods of a class are decorated with `get`, `post` and the like, with one path template or several; GET routes
    also serve HEAD. `routing.Routes` serves the applications of all classes as one tree. As an attribute of an object
    the application is bound to it: `app.resource()` is that object as a resource of twisted.web.
    """

    def __init__(self, api: Api = PAGES) -> None:
        super().__init__()
        # //healthz is not the path /healthz.
        self.url_map.merge_slashes = False
        self.api = api
        self.routes: list[Route] = []

    @property
    def handlers(self) -> object:
        """The object that this application is bound to."""
        return self._instance

    def get(self, *paths: str, api: Api | None = None, changes: bool = False) -> Callable[[HandlerT], HandlerT]:
        """Return a decorator that makes a method the handler of GET and HEAD. `api` is that of these paths only."""
        return self._decorator("GET", paths, api, changes=changes)

    def post(self, *paths: str) -> Callable[[HandlerT], HandlerT]:
        """Return a decorator that makes a method the handler of POST."""
        return self._decorator("POST", paths)

    def put(self, *paths: str) -> Callable[[HandlerT], HandlerT]:
        """Return a decorator that makes a method the handler of PUT."""
        return self._decorator("PUT", paths)

    def patch(self, *paths: str) -> Callable[[HandlerT], HandlerT]:
        """Return a decorator that makes a method the handler of PATCH."""
        return self._decorator("PATCH", paths)

    def delete(self, *paths: str) -> Callable[[HandlerT], HandlerT]:
        """Return a decorator that makes a method the handler of DELETE."""
        return self._decorator("DELETE", paths)

    def any(self, *paths: str, api: Api | None = None) -> Callable[[HandlerT], HandlerT]:
        """Return a decorator that makes a method the handler of all methods of requests."""
        return self._decorator(None, paths, api)

    def _decorator(
        self, method: str | None, paths: Sequence[str], api: Api | None = None, *, changes: bool = False
    ) -> Callable[[HandlerT], HandlerT]:
        def decorate(handler: HandlerT) -> HandlerT:
            for path in paths:
                route = Route(path, method, api or self.api, handler, changes)
                self.routes.append(route)
                self.route(route.rule, methods=route.methods, endpoint=route.name)(handler)
            return handler

        return decorate

    def resource(self) -> KleinResource:
        """Return the handlers, bound to an object, as a resource of twisted.web.

        It takes ten times the processor time of the server's own HTTP, and responses that stay open (SSE) are not
        served; see decisions 0028 and 0029.
        """
        return mount([self]).resource()

    def bound(self, handlers: object) -> App:
        """Return this application bound to an object of the class of its handlers."""
        return self.__get__(handlers, type(handlers))

    def __get__(self, instance: Any, owner: object) -> App:
        bound = super().__get__(instance, owner)
        assert isinstance(bound, App)
        bound.api, bound.routes = self.api, self.routes
        return bound


def versioned(path: str, *, of_lists: bool = True) -> tuple[str, ...]:
    """Return a path of the registry API in each of its versions, also below the prefix of a token `of_lists`."""
    return tuple(f"{prefix}/{version}{path}" for prefix in ("", _TOKEN)[: 1 + of_lists] for version in _VERSIONS)


_VERSIONS, _TOKEN = ("v0.1", "v0"), "/r/{token}"


def mount(apps: Sequence[App]) -> Klein:
    """Return the handlers of `apps`, each bound to an object, as one application for twisted.web."""
    tree = Klein()
    tree.url_map.merge_slashes = False
    for app in apps:
        for route in app.routes:
            tree.route(route.rule, methods=route.methods, endpoint=route.name)(_handler(app, route))
    return tree


def _handler(app: App, route: Route) -> Any:
    def handle(request: Any, **parameters: str) -> Coroutine[Any, Any, bytes]:
        return _respond(app, route, request, parameters)

    handle.__name__ = route.name
    return handle


async def _respond(app: App, route: Route, plain: Any, parameters: dict[str, str]) -> bytes:
    """Return the body of the response to a request of twisted.web, and set its status and header fields."""
    fields = {name.lower(): values for name, values in plain.requestHeaders.getAllRawHeaders()}
    message = Message(plain.method, plain.uri, headers=fields, body=plain.content.read())
    request = Request(_Channel(plain), message, token_hex(8), b"")
    assert route.handler is not None
    try:
        body = await route.handler(app.handlers, request, **parameters)
    except Exception:
        body = respond_with_error(request, Failure(), route.api.error_body, route.api.error_type)
    plain.setResponseCode(request.code)
    for line in request.head().split(b"\r\n")[2:-2]:
        name, _, value = line.partition(b": ")
        plain.responseHeaders.addRawHeader(name, value)
    return body or b""


class _Channel:
    """The connection of a request of twisted.web, as handlers use it: none writes to it."""

    closing = False

    def __init__(self, plain: Any) -> None:
        self._plain = plain
        self.client_network = str(getattr(plain.getClientAddress(), "host", ""))

    @property
    def site(self) -> Any:
        raise NotImplementedError

    def getPeer(self) -> IAddress | None:
        address: IAddress = self._plain.getClientAddress()
        return address

    def isSecure(self) -> bool:
        return bool(self._plain.isSecure())

    def write(self, data: bytes) -> None:
        raise NotImplementedError

    def finished(self, request: Request) -> None:
        raise NotImplementedError

    def loseConnection(self) -> None:
        self._plain.transport.loseConnection()

    def switch_protocol(self, request: Request, protocol: IProtocol) -> bytes:
        raise HttpError(501, "not_implemented", "Streams are served by the server's own HTTP only.")


_UNMATCHED = tuple(
    (prefix.encode(), Route(prefix, None, api))
    for prefix, api in [
        ("/api/", REST),
        ("/v0/", REGISTRY),
        ("/v0.1/", REGISTRY),
        ("/r/", REGISTRY),
        ("/.well-known/", OAUTH),
        ("/register", OAUTH),
        ("/healthz", STATUS),
        ("/readyz", STATUS),
        ("", PAGES),
    ]
)
"""Routes for the error responses of other paths, by prefix; the first match counts."""


def unmatched(path: bytes) -> Route:
    """Return a route without a handler for a path that has none: its API decides the format of the error."""
    return next(route for prefix, route in _UNMATCHED if path.startswith(prefix))


APPS = Point[App]()
"""The applications of handlers of features, each bound to an object of its class."""

OAUTH_HINT = Single("")
"""The text for clients that look for OAuth documents where there are none."""
