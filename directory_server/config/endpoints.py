"""What the strings that describe Twisted's endpoints tell (twisted.internet.endpoints.serverFromString)."""

from __future__ import annotations

import re

from attrs import frozen

_PART = re.compile(r"(?<!\\):")
_NAME = re.compile(r"[a-zA-Z]\w*=")
_EVERYWHERE = ("", "0.0.0.0", "::")


@frozen
class Endpoint:
    """A server endpoint: its kind, and its arguments by place and by name."""

    kind: str
    places: tuple[str, ...]
    names: dict[str, str]

    @property
    def has_port(self) -> bool:
        """Whether it listens on a port of TCP, with TLS or without."""
        return self.kind in ("tcp", "tcp6", "ssl", "tls")

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it by TCP."""
        interface = self.names.get("interface", "")
        return interface in ("localhost", "::1") or interface.startswith("127.")

    @property
    def url(self) -> str | None:
        """The URL that reaches it from this machine; None where it does not tell, as that of a socket."""
        if not self.has_port:
            return None
        places = self.places[1:] if self.kind == "tls" else self.places
        port = self.names.get("port") or (places[0] if places else "443")
        host = self.names.get("interface", "")
        host = "127.0.0.1" if host in _EVERYWHERE else f"[{host}]" if ":" in host else host
        return f"{'https' if self.kind in ('ssl', 'tls') else 'http'}://{host}:{port}"


def read(description: str) -> Endpoint:
    """Return what `description` says; of endpoints of the PROXY protocol, the one that is inside."""
    kind, *arguments = _PART.split(description.removeprefix("haproxy:"))
    unescaped = [re.sub(r"\\(.)", r"\1", each) for each in arguments]
    named = [each.partition("=")[::2] for each in unescaped if _NAME.match(each)]
    return Endpoint(kind, tuple(each for each in unescaped if not _NAME.match(each)), dict(named))


def with_backlog(description: str) -> str:
    """Have the kernel queue 2,048 connections instead of Twisted's 50: more come at once when a server restarts."""
    endpoint = read(description)
    queues = endpoint.has_port or endpoint.kind == "unix"
    return f"{description}:backlog=2048" if queues and "backlog" not in endpoint.names else description
