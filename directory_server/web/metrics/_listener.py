"""Handler of the listener for metrics. The listener is separate from the public one because it requires no key."""

from __future__ import annotations

import re
from typing import Any

from attrs import field, frozen
from prometheus_client import make_wsgi_app

from ...domain.ports.runtime import Offload
from ...http import Request
from ...http.headers import query
from ...http.headers import value as header
from ..responses import json_response
from ..routes import Api, App
from ._metrics import Metrics

CONNECTIONS = 20
"""The most connections of this listener. A scraper uses one."""

_UNREADABLE_VERSION = re.compile(r"version=(?!\d{1,3}(\.\d{1,3}){0,3}\s*([;,]|$))")
"""A version in the Accept header that the library fails to compare."""


@frozen
class MetricsHandlers:
    """Handles `/metrics`, in the text formats of Prometheus and OpenMetrics. `_offload` runs a scrape."""

    app = App(Api("status"))

    _metrics: Metrics
    _offload: Offload
    _wsgi: Any = field(init=False)

    @_wsgi.default
    def _wsgi_app(self) -> Any:
        return make_wsgi_app(self._metrics.registry)

    @app.get("/metrics")
    async def get(self, request: Request) -> bytes:
        accept = header(request, "Accept") or ""
        environ = {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": request.path.decode(),
            "QUERY_STRING": query(request).decode("latin-1"),
            "HTTP_ACCEPT": "" if _UNREADABLE_VERSION.search(accept) else accept,
            "HTTP_ACCEPT_ENCODING": header(request, "Accept-Encoding") or "",
        }
        status, headers, body = await self._offload(self._collect, environ)
        return json_response(request, body, int(status.partition(" ")[0]), **dict(headers))

    def _collect(self, environ: dict[str, str]) -> tuple[str, list[tuple[str, str]], bytes]:
        """Return status, headers and body of the response of the library's WSGI application (PEP 3333)."""
        started: list[tuple[str, list[tuple[str, str]]]] = []
        body = b"".join(self._wsgi(environ, lambda status, headers: started.append((status, headers))))
        return *started[0], body
