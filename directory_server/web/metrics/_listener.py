"""Listener for metrics. It is separate from the public listener because it requires no key."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count

from prometheus_client import make_wsgi_app
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IAddress, IReactorTime
from twisted.internet.protocol import Factory
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.http import datetimeToString

from ...domain.errors import Forbidden
from ...domain.ports.runtime import Offload
from ...http import Connection, Connections, Message, Rejected, Request, status_line
from ...http.errors import ErrorResponse, HttpError
from ...http.headers import value as header
from ._metrics import Metrics

PATH = b"/metrics"

CONNECTIONS = 20
"""The most connections of this listener. A scraper uses one."""

_UNREADABLE_VERSION = re.compile(r"version=(?!\d{1,3}(\.\d{1,3}){0,3}\s*([;,]|$))")
"""A version in the Accept header that the library fails to compare."""


class MetricsSite(Factory):
    """Serve `/metrics` in the text formats of Prometheus and OpenMetrics, with the time and size limits of `http`.

    It has no access log: a scraper sends a request every few seconds. `offload` runs a scrape. `check_host`
    raises Forbidden or HttpError for a Host or an Origin that is not allowed: a web page could read the metrics by a
    name that leads to loopback (DNS rebinding).
    """

    _log = Logger()

    def __init__(
        self,
        metrics: Metrics,
        offload: Offload,
        connections: Connections,
        clock: IReactorTime,
        check_host: Callable[[str, str | None], None],
    ) -> None:
        self.clock = clock
        self.connections = connections
        self._offload = offload
        self._check_host = check_host
        self._app = make_wsgi_app(metrics.registry)
        self._ids = count(1)

    def buildProtocol(self, addr: IAddress | None) -> Connection | Rejected:
        """Return the protocol of a new connection; above the limit, one that closes it."""
        return Connection(self) if self.connections.accepts(str(getattr(addr, "host", ""))) else Rejected()

    def request(self, connection: Connection, message: Message) -> Request:
        """Return the request in `message`."""
        return Request(connection, message, str(next(self._ids)), b"Date: " + datetimeToString())

    def respond(self, request: Request) -> None:
        """Send the metrics, 404 for another path, or the error for a Host or Origin that is not allowed."""
        try:
            self._check_host(header(request, "Host") or "", header(request, "Origin"))
        except Forbidden as error:
            _send_text(request, 403, error.message.encode() + b"\n")
            return
        except HttpError as error:
            _send_text(request, error.response.status, error.response.message.encode() + b"\n")
            return
        if request.path == PATH:
            Deferred.fromCoroutine(self._send_metrics(request)).addErrback(self._failed, request)
        else:
            _send_text(request, 404, b"The metrics are at /metrics.\n")

    async def _send_metrics(self, request: Request) -> None:
        accept = header(request, "Accept") or ""
        environ = {
            "REQUEST_METHOD": request.method.decode("latin-1"),
            "PATH_INFO": request.path.decode(),
            "QUERY_STRING": request.uri.partition(b"?")[2].decode("latin-1"),
            "HTTP_ACCEPT": "" if _UNREADABLE_VERSION.search(accept) else accept,
            "HTTP_ACCEPT_ENCODING": header(request, "Accept-Encoding") or "",
        }
        status, headers, body = await self._offload(self._collect, environ)
        if request.disconnected:
            return
        request.setResponseCode(int(status.partition(" ")[0]))
        for name, value in headers:
            request.setHeader(name, value)
        request.write(body)
        request.finish()

    def _failed(self, failure: Failure, request: Request) -> None:
        self._log.failure("The metrics cannot be collected", failure=failure)
        if not request.disconnected:
            _send_text(request, 500, b"The metrics cannot be collected. The server log has details.\n")

    def _collect(self, environ: dict[str, str]) -> tuple[str, list[tuple[str, str]], bytes]:
        """Return status, headers and body of the response of the library's WSGI application (PEP 3333)."""
        started: list[tuple[str, list[tuple[str, str]]]] = []
        body = b"".join(self._app(environ, lambda status, headers: started.append((status, headers))))
        return *started[0], body

    def error_response(self, error: ErrorResponse, path: bytes) -> bytes:
        """Return the complete response to a malformed request."""
        body = error.message.encode() + b"\n"
        fields = (b"Content-Type: text/plain", b"Content-Length: %d" % len(body), b"Connection: close")
        return b"\r\n".join([status_line(error.status), *fields, b"", body])

    def log(self, request: Request) -> None:
        """Do nothing."""


def _send_text(request: Request, status: int, text: bytes) -> None:
    request.setResponseCode(status)
    request.setHeader("Content-Type", "text/plain")
    request.write(text)
    request.finish()
