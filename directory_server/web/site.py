"""The HTTP site: check Host and Origin, dispatch requests, and record each one."""

from __future__ import annotations

import re
from collections.abc import Coroutine
from os import urandom
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IAddress, IProtocolNegotiationFactory, IReactorTime
from twisted.internet.protocol import Factory
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.http import datetimeToString
from zope.interface import implementer

from .. import serialization
from ..domain.errors import DirectoryError
from ..domain.scopes import MAX_LIST_NAME
from ..http import Connection, Connections, Message, Rejected, Request, status_line
from ..http.errors import ErrorResponse, HttpError
from ..http.headers import value as header
from .access_log import UNMATCHED, AccessRecorder
from .origins import Origins, allow_any_origin, allow_origin
from .routes import PAGES, Api
from .routing import Routes

LISTS = b"/r/"
"""The beginning of the paths of lists, and of those with a token of the registry API."""

_LIST_NAME = re.compile(rb"[a-z0-9-]{1,%d}" % MAX_LIST_NAME)

_NO_HOST = [b""]

_log = Logger()


@implementer(IProtocolNegotiationFactory)
class DirectorySite(Factory):
    """Factory of connections. Requests are dispatched to `routes` and recorded by `access`.

    With `has_lists` the paths of APIs may begin with that of a list.
    """

    def __init__(
        self,
        routes: Routes,
        origins: Origins,
        connections: Connections,
        access: AccessRecorder,
        clock: IReactorTime,
        *,
        has_lists: bool = False,
    ) -> None:
        self._routes = routes
        self._exact = routes.exact()
        self._origins = origins
        self.clock = clock
        self.connections = connections
        self._access = access
        self._process = urandom(4).hex()
        self._second, self._date = -1, b""
        self._has_lists = has_lists

    def acceptableProtocols(self) -> list[bytes]:
        """Return the protocols for TLS to negotiate: only HTTP/1.1, because a stream takes a whole connection."""
        return [b"http/1.1"]

    def buildProtocol(self, addr: IAddress | None) -> Connection | Rejected:
        """Return the protocol of a new connection; above the limits, one that closes it."""
        return Connection(self) if self.connections.accepts(str(getattr(addr, "host", ""))) else Rejected()

    def request(self, connection: Connection, message: Message) -> Request:
        """Return the request in `message`, with the Date of its response set."""
        return Request(connection, message, self._new_id(), self._date_line())

    def respond(self, request: Request) -> None:
        """Check Host and Origin, and pass the request to the handler of its path."""
        # Paths without parameters need one look-up; Klein matches the others.
        match = self._exact.get((request.method, request.path))
        if match is None:
            if self._has_lists and request.path.startswith(LISTS):
                _read_list(request)
                match = self._exact.get((request.method, request.path))
            if match is None:
                match = self._routes.match(request.method.decode("latin-1"), request.path)
            if request.list_name and match.route.api is PAGES:
                match = self._routes.match("", LISTS)
        request.route = match.route.label
        api = match.route.api
        try:
            self._check_origin(request, api)
        except (DirectoryError, HttpError):
            self.respond_with_error(request, api, Failure())
            return
        _RunningHandler(match.handler(request, **match.parameters), request, api, self).step()

    def respond_with_error(self, request: Request, api: Api, failure: Failure) -> None:
        """Send the response to a failed request."""
        _send(self._routes.respond_with_error(request, api, failure), request)

    def _check_origin(self, request: Request, api: Api) -> None:
        """Check Host and Origin, and allow the pages of other origins to read the response where they may.

        Those of all origins may use the registry API, for example: editors read it from web pages of their own.
        """
        received = request.received
        host = received.get(b"host", _NO_HOST)[-1]
        origin = header(request, "Origin") if b"origin" in received else None
        try:
            self._origins.check(host.decode("latin-1"), None if api.any_origin else origin)
        except (DirectoryError, HttpError):
            if not api.any_host:
                raise
            request.is_foreign = True
        if api.any_origin:
            allow_any_origin(request, "GET, OPTIONS" if api.any_origin == "read" else "GET, POST, OPTIONS")
        elif origin is not None and origin in self._origins.origins:
            allow_origin(request, origin)

    def error_response(self, error: ErrorResponse, path: bytes) -> bytes:
        """Return and record the complete response to a malformed request; `path` is empty if it was not read."""
        route = self._routes.match("GET", path).route
        body = serialization.encode(route.api.error_body(error))
        request_id = self._new_id()
        self._access.record(UNMATCHED, route.label, error.status, len(body), 0.0, None, request_id, (error.code,))
        fields = {
            b"X-Request-Id": request_id.encode(),
            b"Content-Type": b"application/json",
            b"Content-Length": b"%d" % len(body),
            b"Cache-Control": b"no-store",
            b"X-Content-Type-Options": b"nosniff",
            b"Connection": b"close",
        }
        lines = [b"%s: %s" % field for field in fields.items()]
        return b"\r\n".join([status_line(error.status), self._date_line(), *lines, b"", body])

    def log(self, request: Request) -> None:
        """Record a finished request."""
        self._access.record(
            request.method.decode("latin-1"),
            request.route,
            request.code,
            request.sentLength,
            self.clock.seconds() - request.began,
            request.key_id,
            request.id,
            request.errors,
        )

    def _new_id(self) -> str:
        """Return a request id: 8 digits of this process, a dash, and 16 random hexadecimal digits.

        The first part identifies the process. The second part does not reveal how many requests there were.
        """
        return f"{self._process}-{urandom(8).hex()}"

    def _date_line(self) -> bytes:
        """Return the Date header (RFC 9110, section 5.6.7), formatted once a second."""
        second = int(self.clock.seconds())
        if second != self._second:
            # The clock's zero is arbitrary, so the wall-clock time is used.
            self._second, self._date = second, b"Date: " + datetimeToString()
        return self._date


class MetricsSite(DirectorySite):
    """The site of the listener for metrics. The server log names it when it starts."""


def _read_list(request: Request) -> None:
    """Remove a list from the beginning of the path of a request: /r/NAME/v0.1/servers is /v0.1/servers in a list."""
    name, slash, rest = request.path.removeprefix(LISTS).partition(b"/")
    if slash and _LIST_NAME.fullmatch(name):
        request.list_name, request.path = name.decode("ascii"), b"/" + rest


class _RunningHandler:
    """The coroutine of a handler, run until the response can be sent.

    A coroutine that does not wait ends within the first `step`. That takes a fifth of the time of
    Deferred.fromCoroutine. A Deferred is used only where the coroutine waits for one.
    """

    __slots__ = ("_api", "_coroutine", "_request", "_site", "_waiting")

    def __init__(
        self,
        coroutine: Coroutine[Deferred[Any], Any, bytes | None],
        request: Request,
        api: Api,
        site: DirectorySite,
    ) -> None:
        self._coroutine = coroutine
        self._request = request
        self._api = api
        self._site = site
        self._waiting: Deferred[Any] | None = None

    def step(self, result: Any = None) -> None:
        """Continue the coroutine with the result of what it waited for."""
        try:
            try:
                if isinstance(result, Failure):
                    waiting = result.throwExceptionIntoGenerator(self._coroutine)
                else:
                    waiting = self._coroutine.send(result)
            except StopIteration as returned:
                _send(returned.value, self._request)
            except Exception:
                self._site.respond_with_error(self._request, self._api, Failure())
            else:
                self._waiting = waiting
                self._request.on_disconnect = self._cancel
                waiting.addBoth(self._resume)
        except Exception:
            _log.failure("Response could not be sent")
            if not self._request.disconnected:
                self._request.loseConnection()

    def _resume(self, result: Any) -> Any:
        """Continue the coroutine, in the next turn if this one is long: results of threads arrive together."""
        if self._site.connections.turns.admits(self._request.network):
            self.step(result)
            return None
        self._site.clock.callLater(0, self._resume, result)
        # The coroutine reads the result from the Deferred, but not an exception.
        return None if isinstance(result, Failure) else result

    def _cancel(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()


def _send(body: bytes | None, request: Request) -> None:
    """Send a response body; None comes from a handler that has taken over the connection."""
    if body is not None and not request.disconnected:
        request.write(body)
        request.finish()
