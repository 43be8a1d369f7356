"""Checks of the Host and Origin headers, and CORS headers of responses."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import field, frozen

from ..domain.errors import Forbidden
from ..http import Request
from ..http.errors import HttpError

_METHODS = "GET, HEAD, POST, DELETE, OPTIONS"
_REQUEST_HEADERS = (
    "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name"
)
_RESPONSE_HEADERS = (
    "Link, Mcp-Session-Id, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, "
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id"
)
_MAX_AGE = "600"
"""Seconds that browsers keep the answer to a preflight."""

_ANY_HEADER = "*, Authorization"
"""Every request header: the asterisk does not include Authorization (Fetch, section 3.3.4)."""

_PORT = re.compile(r":\d*$")


def _host_name(host: str) -> str:
    """Return `host` in lower case, without its port."""
    return _PORT.sub("", host.lower())


def _host_names(hosts: Iterable[str]) -> frozenset[str]:
    return frozenset(map(_host_name, hosts))


@frozen
class Origins:
    """Allowed hosts and origins.

    An empty set of `hosts` allows any host. An origin looks like `https://example.org`.
    """

    hosts: frozenset[str] = field(converter=_host_names)
    origins: frozenset[str]

    def check(self, host: str, origin: str | None) -> None:
        """Raise Forbidden for a host or an origin that is not allowed (MCP 2025-11-25, Security Warning).

        The origin of the server itself is allowed. Raises HttpError if hosts are restricted and Host is missing:
        HTTP/1.0 does not require it (RFC 9112, section 3.2).
        """
        if self.hosts and not host:
            raise HttpError(400, "bad_request", "The Host header is missing or empty. It must name this server.")
        if self.hosts and _host_name(host) not in self.hosts:
            raise _forbidden("Host", host, "hosts")
        own = host and origin is not None and origin.partition("://")[2].lower() == host.lower()
        if origin is not None and origin not in self.origins and not own:
            raise _forbidden("Origin", origin, "origins")


def _forbidden(header: str, value: str, allowed: str) -> Forbidden:
    remedy = f"The operator can allow it with the setting http.allowed_{allowed}."
    return Forbidden(f"The {header} {value[:100]!r} is not allowed. {remedy}", code=f"forbidden_{header.lower()}")


def allow_any_origin(request: Request, methods: str) -> None:
    """Allow pages of all origins to use `methods` and to read the response (CORS; Fetch, section 3.3)."""
    request.setHeader("Access-Control-Allow-Origin", "*")
    request.setHeader("Access-Control-Expose-Headers", "ETag, Retry-After, X-Request-Id")
    if request.method == b"OPTIONS":
        _answer_preflight(request, methods, _ANY_HEADER)


def allow_origin(request: Request, origin: str) -> None:
    """Allow pages of `origin` to read the response (CORS; Fetch, section 3.3)."""
    request.setHeader("Access-Control-Allow-Origin", origin)
    request.setHeader("Access-Control-Expose-Headers", _RESPONSE_HEADERS)
    request.setHeader("Vary", "Origin")
    if request.method == b"OPTIONS":
        _answer_preflight(request, _METHODS, _REQUEST_HEADERS)


def _answer_preflight(request: Request, methods: str, headers: str) -> None:
    request.setHeader("Access-Control-Allow-Methods", methods)
    request.setHeader("Access-Control-Allow-Headers", headers)
    request.setHeader("Access-Control-Max-Age", _MAX_AGE)
