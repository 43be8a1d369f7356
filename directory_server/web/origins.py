"""Which names the server answers to, and which web pages may ask it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import field, frozen

from ..domain.errors import Forbidden
from ..http.errors import HttpError

_PORT = re.compile(r":\d*$")


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
        """Raise Forbidden for a request to another name or from a page elsewhere (MCP 2025-11-25, Security Warning).

        Raises HttpError where a name is needed and none was given: HTTP/1.0 does not demand a Host (RFC 9112, 3.2).
        """
        if self.hosts and not host:
            raise HttpError(400, "bad_request", "Host is missing or empty. It must name this server.")
        if self.hosts and _host_name(host) not in self.hosts:
            raise Forbidden(f"This server does not answer to the name {host[:100]!r}.", code="forbidden_host")
        own = host and origin is not None and origin.partition("://")[2].lower() == host.lower()
        if origin is not None and origin not in self.origins and not own:
            raise Forbidden(f"Pages of {origin[:100]!r} may not ask this server.", code="forbidden_origin")
