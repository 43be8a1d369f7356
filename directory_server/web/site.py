"""The site: which requests get in at all, what answers them, and who is told of each."""

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
from .origins import Origins
from .registry import is_registry
from .routing import Handler, Routes, form

_log = Logger()


class DirectorySite(Site):
    """The server side of each connection.

    Requests are answered by `routes`, on `connections`, by the `clock`; `access` is told of each.
    """

    def __init__(
        self, routes: Routes, origins: Origins, connections: Connections, access: AccessRecorder, clock: IReactorTime
    ) -> None:
        self._tree = routes.app.resource()
        super().__init__(self._tree, reactor=clock)
        self._routes = routes
        self._exact = routes.exact()
        self._templates = routes.templates()
        self._origins = origins
        self.clock = clock
        self.connections = connections
        self._access = access
        self._ids = _random_ids()
        self._second, self._date = -1, b""

    def acceptableProtocols(self) -> list[bytes]:
        """Return what TLS may agree on: HTTP/1.1 alone, of which a stream takes the whole connection."""
        return [b"http/1.1"]

    def buildProtocol(self, addr: IAddress | None) -> Connection | Rejected:  # type: ignore[override]
        """Return the protocol of a new connection: one that closes it where there are too many."""
        return Connection(self) if self.connections.accepts(str(getattr(addr, "host", ""))) else Rejected()

    def request(self, connection: Connection, message: Message) -> Request:
        """Return the request that `message` makes of `connection`, the head of its answer begun."""
        return Request(connection, message, next(self._ids), self._now())

    def respond(self, request: Request) -> None:
        """Answer a request: refuse it, or have the tree answer it."""
        origin = header(request, "Origin")
        try:
            # Editors read the registry API from pages of their own.
            anybody = is_registry(request.path)
            self._origins.check(header(request, "Host") or "", None if anybody else origin)
            if anybody:
                request.allow_any_origin()
            elif origin in self._origins.origins:
                request.allow_origin(str(origin))
            # Paths without a pattern in them are found at once, the others as Klein does it.
            handler = self._exact.get((request.method, request.path))
            if handler is None:
                _check_path(request.path)
        except (DirectoryError, HttpError, NotFound):
            _send(self._routes.refused(request, Failure()), request)
            return
        if handler is None:
            request.prepath, request.postpath = [], request.path[1:].split(b"/")
            self._tree.render(request)
        else:
            self._handle(handler, request)

    def _handle(self, handler: Handler, request: Request) -> None:
        answering = Deferred.fromCoroutine(self._answered(handler, request))
        if not answering.called:
            request.notifyFinish().addErrback(lambda _: answering.cancel())

    async def _answered(self, handler: Handler, request: Request) -> None:
        try:
            try:
                body = await handler(request)
            except Exception:
                body = self._routes.refused(request, Failure())
            _send(body, request)
        except Exception:
            _log.failure("An answer could not be sent")
            if not request.gone:
                request.loseConnection()

    def error_response(self, error: ErrorResponse, path: bytes) -> bytes:
        """Return the whole answer to bytes that are no request, as far as they are known for `path`, and log it."""
        body = serialization.encode(form(path)(error))
        request_id = next(self._ids)
        route, status = self._templates.of(path), error.status
        self._access.record(UNMATCHED, route, status, len(body), 0.0, None, request_id, (error.code,))
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
        """Tell of a request that is over."""
        assert isinstance(request, Request)
        self._access.record(
            request.method.decode("latin-1"),
            self._templates.of(request.path),
            request.code,
            request.sentLength,
            self.clock.seconds() - request.began,
            request.key_id,
            request.id,
            request.errors,
        )

    def _now(self) -> bytes:
        """Return the date as answers have it (RFC 9110, section 5.6.7), made once a second."""
        second = int(self.clock.seconds())
        if second != self._second:
            # The clock counts from an arbitrary moment.
            self._second, self._date = second, datetimeToString()
        return self._date


def _random_ids() -> Iterator[str]:
    """Yield request ids: 8 digits of this process, a dash, and 16 random hexadecimal digits.

    The first part tells which of several processes answered. The second part does not reveal how many requests there
    were. One system call makes 256 ids.
    """
    process = urandom(4).hex()
    while True:
        block = urandom(8 * 256).hex()
        for start in range(0, len(block), 16):
            yield f"{process}-{block[start : start + 16]}"


class Rejected(Protocol):
    """Cuts a connection at once.

    Twisted's wrapping factories, of TLS for one, cannot take None from `buildProtocol`.
    """

    transport: Any

    def connectionMade(self) -> None:
        self.transport.abortConnection()


def _check_path(path: bytes) -> None:
    if path.startswith(b"//"):
        # To werkzeug these are one slash.
        raise NotFound()
    try:
        unquote_to_bytes(path).decode()
    except UnicodeDecodeError:
        raise HttpError(400, "bad_request", "The path is not UTF-8.") from None


def _send(body: bytes | None, request: Request) -> None:
    """Send an answer; None is that of a handler that has given its connection away."""
    if body is not None and not request.gone:
        request.write(body)
        request.finish()
