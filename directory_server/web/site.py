"""Between the socket and the tree: which requests get in at all, and the line that is logged of each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from io import BytesIO
from typing import Any, cast

from attrs import field, frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.http import Request as AnyRequest
from twisted.web.resource import IResource, Resource
from twisted.web.server import Request, Site

from ..errors import DirectoryError, Forbidden, TooLarge
from ._connection import Connection, Connections
from ._headers import value as header
from .routes import refused

MAX_BODY = 64 * 1024
"""Bytes of a request's body that are kept."""

_CORS_METHODS = "GET, HEAD, POST, DELETE, OPTIONS"
_CORS_REQUEST_HEADERS = (
    "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name"
)
_CORS_RESPONSE_HEADERS = (
    "Link, Mcp-Session-Id, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, "
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset"
)
_access = Logger("directory_server.access")

_PORT = re.compile(r":\d*$")
_SECRET = re.compile(r"mcpd_\w+")


def _host_name(host: str) -> str:
    """Return a host without its port, in lower case."""
    return _PORT.sub("", host.lower())


def _host_names(hosts: Iterable[str]) -> frozenset[str]:
    return frozenset(map(_host_name, hosts))


@frozen
class Origins:
    """Which names the server answers to, and which web pages may ask it.

    `hosts` are names, any if there are none; `origins` are such as `https://example.org`.
    """

    hosts: frozenset[str] = field(converter=_host_names)
    origins: frozenset[str]

    def check(self, host: str, origin: str | None) -> None:
        """Raise Forbidden for a request to another name or from a page elsewhere (MCP 2025-11-25, Security Warning)."""
        if self.hosts and _host_name(host) not in self.hosts:
            raise Forbidden(f"This server does not answer to the name {host[:100]!r}.", code="forbidden_host")
        own = host and origin is not None and origin.partition("://")[2].lower() == host.lower()
        if origin is not None and origin not in self.origins and not own:
            raise Forbidden(f"Pages of {origin[:100]!r} may not ask this server.", code="forbidden_origin")


class DirectoryRequest(Request):
    """A request whose body is bounded, and which is checked before it reaches the tree."""

    channel: Any
    key_id: str | None = None
    _received = 0

    def gotLength(self, length: int | None) -> None:
        # Overridden because twisted.web keeps a body of any length, the longer ones in files.
        self._kept = self.content = BytesIO()
        self.started = self.channel.site.clock.seconds()

    def handleContentChunk(self, data: bytes) -> None:
        self._received += len(data)
        if self._received <= MAX_BODY:
            self._kept.write(data)

    def connectionLost(self, reason: Failure) -> None:
        # Only finished requests are logged by twisted.web, and a client may leave before that.
        self.channel.site.log(self)
        super().connectionLost(reason)

    def check_length(self) -> None:
        """Raise TooLarge where the body had more bytes than are kept."""
        if self._received > MAX_BODY:
            raise TooLarge(f"The body has {self._received:,} bytes; at most {MAX_BODY:,} are read.")

    def allow(self, origin: str) -> None:
        """Let the page that asks read the answer (Fetch, section 3.3)."""
        self.setHeader("Access-Control-Allow-Origin", origin)
        self.setHeader("Access-Control-Expose-Headers", _CORS_RESPONSE_HEADERS)
        self.setHeader("Vary", "Origin")
        if self.method == b"OPTIONS":
            self.setHeader("Access-Control-Allow-Methods", _CORS_METHODS)
            self.setHeader("Access-Control-Allow-Headers", _CORS_REQUEST_HEADERS)
            self.setHeader("Access-Control-Max-Age", "600")


@frozen(eq=False)
class _Refused(Resource):
    """Stands in for the resource of a request that does not get in."""

    _failure: Failure

    isLeaf = True

    def render(self, request: Request) -> bytes:
        return refused(request, self._failure)


class DirectorySite(Site):
    """The server side of each connection."""

    protocol = Connection  # type: ignore[assignment]  # Twisted's own lets HTTP/2 in

    def __init__(self, resource: IResource, origins: Origins, clock: IReactorTime, *, grace: float = 10.0) -> None:
        # Nobody here takes forms, and twisted.web would read each POST for one.
        super().__init__(resource, requestFactory=DirectoryRequest, reactor=clock, parsePOSTFormSubmission=False)
        self._origins = origins
        self.clock = clock
        self.connections = Connections(clock, grace)

    def acceptableProtocols(self) -> list[bytes]:
        """Return what TLS may agree on: HTTP/1.1 alone, of which a stream takes the whole connection."""
        return [b"http/1.1"]

    def getResourceFor(self, request: DirectoryRequest) -> IResource:
        """Return the tree, or a refusal for a request that may not or cannot be answered by it."""
        origin = header(request, "Origin")
        try:
            self._origins.check(header(request, "Host") or "", origin)
            request.check_length()
        except DirectoryError:
            return _Refused(Failure())
        if origin in self._origins.origins:
            request.allow(str(origin))
        return cast(IResource, super().getResourceFor(request))

    def log(self, request: AnyRequest) -> None:
        """Log one line; of the URL only the path, for people put secrets into queries."""
        assert isinstance(request, DirectoryRequest)
        method, path = request.method.decode("latin-1"), _SECRET.sub("mcpd_…", request.path.decode("latin-1"))[:200]
        took = (self.clock.seconds() - request.started) * 1000
        # Put together here, because a log's own formatting takes as long as all else that it does.
        line = f"{method} {path} {request.code} {request.sentLength} B {took:.1f} ms key={request.key_id or '-'}"
        _access.info("{line}", line=line)
