"""The HTTP site: check Host and Origin, dispatch requests, and record each one."""

from __future__ import annotations

from collections.abc import Iterator
from os import urandom
from typing import Any
from urllib.parse import unquote_to_bytes

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IAddress, IReactorTime
from twisted.internet.protocol import Protocol
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.http import Request as AnyRequest
from twisted.web.http import datetimeToString
from twisted.web.server import Site
from werkzeug.exceptions import NotFound

from .. import serialization
from ..domain.errors import DirectoryError
from ..http import Connection, Connections, Message, Request, status_line
from ..http.errors import ErrorResponse, HttpError
from ..http.headers import value as header
from .access_log import UNMATCHED, AccessRecorder
from .origins import Origins, allow_any_origin, allow_origin
from .routes import TABLE
from .routing import Handler, Routes, error_body

_log = Logger()


class DirectorySite(Site):
    """Factory of connections. Requests are dispatched to `routes` and recorded by `access`."""

    def __init__(
        self, routes: Routes, origins: Origins, connections: Connections, access: AccessRecorder, clock: IReactorTime
    ) -> None:
        self._resource = routes.app.resource()
        super().__init__(self._resource, reactor=clock)
        self._routes = routes
        self._exact = routes.exact()
        self._origins = origins
        self.clock = clock
        self.connections = connections
        self._access = access
        self._ids = _random_ids()
        self._second, self._date = -1, b""

    def acceptableProtocols(self) -> list[bytes]:
        """Return the protocols for TLS to negotiate: only HTTP/1.1, because a stream takes a whole connection."""
        return [b"http/1.1"]

    def buildProtocol(self, addr: IAddress | None) -> Connection | Rejected:  # type: ignore[override]
        """Return the protocol of a new connection; above the limits, one that closes it."""
        return Connection(self) if self.connections.accepts(str(getattr(addr, "host", ""))) else Rejected()

    def request(self, connection: Connection, message: Message) -> Request:
        """Return the request in `message`, with Date and X-Request-Id of its response set."""
        return Request(connection, message, next(self._ids), self._now())

    def respond(self, request: Request) -> None:
        """Check Host, Origin and path, and pass the request to its handler."""
        origin = header(request, "Origin")
        try:
            # Editors read the registry API from web pages of their own.
            any_origin = TABLE.find(request.path).api.any_origin
            self._origins.check(header(request, "Host") or "", None if any_origin else origin)
            if any_origin:
                allow_any_origin(request)
            elif origin in self._origins.origins:
                allow_origin(request, str(origin))
            # Paths without parameters need one look-up; Klein matches the others.
            handler = self._exact.get((request.method, request.path))
            if handler is None:
                _check_path(request.path)
        except (DirectoryError, HttpError, NotFound):
            _send(self._routes.respond_with_error(request, Failure()), request)
            return
        if handler is None:
            request.prepath, request.postpath = [], request.path[1:].split(b"/")
            self._resource.render(request)
        else:
            self._start(handler, request)

    def _start(self, handler: Handler, request: Request) -> None:
        response = Deferred.fromCoroutine(self._run(handler, request))
        if not response.called:
            request.notifyFinish().addErrback(lambda _: response.cancel())

    async def _run(self, handler: Handler, request: Request) -> None:
        try:
            try:
                body = await handler(request)
            except Exception:
                body = self._routes.respond_with_error(request, Failure())
            _send(body, request)
        except Exception:
            _log.failure("Response could not be sent")
            if not request.disconnected:
                request.loseConnection()

    def error_response(self, error: ErrorResponse, path: bytes) -> bytes:
        """Return and record the complete response to a malformed request; `path` is empty if it was not read."""
        route = TABLE.find(path)
        body = serialization.encode(error_body(route.api)(error))
        request_id = next(self._ids)
        self._access.record(UNMATCHED, route.label, error.status, len(body), 0.0, None, request_id, (error.code,))
        fields = {
            b"Date": self._now(),
            b"X-Request-Id": request_id.encode(),
            b"Content-Type": b"application/json",
            b"Content-Length": b"%d" % len(body),
            b"Cache-Control": b"no-store",
            b"X-Content-Type-Options": b"nosniff",
            b"Connection": b"close",
        }
        lines = [b"%s: %s" % field for field in fields.items()]
        return b"\r\n".join([status_line(error.status), *lines, b"", body])

    def log(self, request: AnyRequest) -> None:
        """Record a finished request."""
        assert isinstance(request, Request)
        self._access.record(
            request.method.decode("latin-1"),
            TABLE.find(request.path).label,
            request.code,
            request.sentLength,
            self.clock.seconds() - request.began,
            request.key_id,
            request.id,
            request.errors,
        )

    def _now(self) -> bytes:
        """Return the Date header's value (RFC 9110, section 5.6.7), formatted once a second."""
        second = int(self.clock.seconds())
        if second != self._second:
            # The clock's zero is arbitrary, so the wall-clock time is used.
            self._second, self._date = second, datetimeToString()
        return self._date


def _random_ids() -> Iterator[str]:
    """Yield request ids: 8 digits of this process, a dash, and 16 random hexadecimal digits.

    The first part identifies the process. The second part does not reveal how many requests there
    were. One system call makes 256 ids.
    """
    process = urandom(4).hex()
    while True:
        block = urandom(8 * 256).hex()
        for start in range(0, len(block), 16):
            yield f"{process}-{block[start : start + 16]}"


class Rejected(Protocol):
    """Close a connection immediately.

    Twisted's wrapping factories, such as that of TLS, do not accept None from `buildProtocol`.
    """

    transport: Any

    def connectionMade(self) -> None:
        self.transport.abortConnection()


def _check_path(path: bytes) -> None:
    if path.startswith(b"//"):
        # werkzeug treats these as one slash.
        raise NotFound()
    try:
        unquote_to_bytes(path).decode()
    except UnicodeDecodeError:
        raise HttpError(400, "bad_request", "The path must be UTF-8, percent-encoded.") from None


def _send(body: bytes | None, request: Request) -> None:
    """Send a response body; None comes from a handler that has taken over the connection."""
    if body is not None and not request.disconnected:
        request.write(body)
        request.finish()
