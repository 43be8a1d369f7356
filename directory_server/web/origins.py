"""Checks of the Host and Origin headers."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import field, frozen

from ..domain.errors import Forbidden
from ..http.errors import HttpError

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
            raise Forbidden(f"The Host {host[:100]!r} is not allowed.", code="forbidden_host")
        own = host and origin is not None and origin.partition("://")[2].lower() == host.lower()
        if origin is not None and origin not in self.origins and not own:
            raise Forbidden(f"The Origin {origin[:100]!r} is not allowed.", code="forbidden_origin")
