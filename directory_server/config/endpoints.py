"""Descriptions of Twisted's endpoints (twisted.internet.endpoints.serverFromString): kind, arguments, local URL."""

from __future__ import annotations

import re

from attrs import frozen

_SEPARATOR = re.compile(r"(?<!\\):")
_NAMED = re.compile(r"[a-zA-Z]\w*=")
_ALL_INTERFACES = ("", "0.0.0.0", "::")


@frozen
class Endpoint:
    """A server endpoint: its kind, its positional arguments and its named ones."""

    kind: str
    positional: tuple[str, ...]
    named: dict[str, str]

    @property
    def arguments(self) -> tuple[str, ...]:
        """All arguments, without the names of those that are named."""
        return (*self.positional, *self.named.values())

    @property
    def has_port(self) -> bool:
        """Whether the endpoint listens on a TCP port, with or without TLS."""
        return self.kind in ("tcp", "tcp6", "ssl", "tls")

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect by TCP."""
        interface = self.named.get("interface", "")
        return interface in ("localhost", "::1") or interface.startswith("127.")

    @property
    def port(self) -> str | None:
        """The TCP port as it is written; None for a socket without a port."""
        if not self.has_port:
            return None
        positional = self.positional[1:] if self.kind == "tls" else self.positional
        return self.named.get("port") or (positional[0] if positional else "443")

    @property
    def url(self) -> str | None:
        """The URL of the endpoint on this machine; None for a socket without a port."""
        if not self.has_port:
            return None
        return f"{'https' if self.kind in ('ssl', 'tls') else 'http'}://{self.host}:{self.port}"

    @property
    def host(self) -> str:
        """The host by which this machine names the endpoint in a URL."""
        host = self.named.get("interface", "")
        return "127.0.0.1" if host in _ALL_INTERFACES else f"[{host}]" if ":" in host else host


def read(description: str) -> Endpoint:
    """Return the endpoint of `description`; for the PROXY protocol, the inner endpoint."""
    kind, *arguments = _SEPARATOR.split(description.removeprefix("haproxy:"))
    unescaped = [re.sub(r"\\(.)", r"\1", argument) for argument in arguments]
    named = [argument.partition("=")[::2] for argument in unescaped if _NAMED.match(argument)]
    return Endpoint(kind, tuple(argument for argument in unescaped if not _NAMED.match(argument)), dict(named))


def with_backlog(description: str) -> str:
    """Return `description` with a backlog of 2,048 connections, unless it has one.

    Twisted's default is 50. More clients than that reconnect at once when a server restarts.
    """
    endpoint = read(description)
    has_backlog = endpoint.has_port or endpoint.kind == "unix"
    return f"{description}:backlog=2048" if has_backlog and "backlog" not in endpoint.named else description
