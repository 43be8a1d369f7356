"""The request that handlers receive, and its response."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Protocol

from twisted.internet.interfaces import IAddress, IProtocol
from twisted.python.failure import Failure
from twisted.web.http import NO_BODY_CODES, RESPONSES

from ._parser import Message


class RequestHandler(Protocol):
    """The methods of a site that a request calls."""

    def respond(self, request: Request) -> None:
        """Send the response to `request`."""

    def log(self, request: Request) -> None:
        """Log `request`, which has ended."""


class RequestChannel(Protocol):
    """The attributes and methods of a connection that a request uses."""

    closing: bool
    client_network: str

    @property
    def site(self) -> RequestHandler:
        """The site that the connection belongs to."""

    def getPeer(self) -> IAddress | None:
        """Return the address of the client."""

    def isSecure(self) -> bool:
        """Return whether the connection uses TLS."""

    def write(self, data: bytes, /) -> None:
        """Send a whole response."""

    def finished(self, request: Request, /) -> None:
        """Continue after the response to `request`."""

    def loseConnection(self) -> None:
        """Close the connection after all written data is sent."""

    def switch_protocol(self, request: Request, protocol: IProtocol, /) -> bytes:
        """Finish `request`, connect the transport to `protocol`, and return the head of the response."""


_NOTHING: frozenset[str] = frozenset()


class Request:
    """A request whose body has been read completely, and its response, which is sent when it is complete.

    `audit` is the draft of the audit event of the request, None if it is not audited.
    `id` is in the response's head and in the log. `began` is the time of its first byte, in seconds of the clock.
    `received` has its header fields: the values in order by name in lower case. `disconnected` is whether the client
    has closed the connection. `route` is the name of its route in the log, set by the site. `errors` are the codes of
    the errors in the response, and `sentLength` the bytes of its body. `on_disconnect` is called if the client
    disconnects before the end of the response. `is_foreign` is whether it is served although Host or Origin is not
    allowed. `list_name` is the name of the list that the path began with, empty for none, and `scope` what its client
    may see, nothing until it is authenticated (see `domain.scopes`).

    Methods with names in mixed case are those of twisted.web's requests.
    """

    __slots__ = (
        "_body",
        "_channel",
        "_cookies",
        "_date",
        "_fields",
        "audit",
        "began",
        "body",
        "code",
        "disconnected",
        "errors",
        "id",
        "is_foreign",
        "key_id",
        "list_name",
        "method",
        "on_disconnect",
        "path",
        "received",
        "route",
        "scope",
        "sentLength",
        "startedWriting",
        "uri",
    )

    def __init__(self, channel: RequestChannel, message: Message, request_id: str, date: bytes) -> None:
        self._channel = channel
        self._date = date
        self._fields: dict[bytes, bytes] = {}
        self._body = b""
        self._cookies: list[bytes] | None = None
        self.id = request_id
        self.began = message.began
        self.method = message.method
        self.uri = message.target
        self.path = message.target.partition(b"?")[0]
        self.received = message.headers
        self.body = message.body
        self.code = 200
        self.key_id: str | None = None
        self.audit: Any = None
        self.route = ""
        self.list_name = ""
        self.is_foreign = False
        self.scope: Any = _NOTHING
        self.errors: tuple[str, ...] = ()
        self.sentLength = 0
        self.startedWriting = False
        self.disconnected = False
        self.on_disconnect: Callable[[], None] | None = None

    @property
    def site(self) -> RequestHandler:
        """The site that responds to the request."""
        return self._channel.site

    @property
    def network(self) -> str:
        """The network of the client, also behind a trusted proxy."""
        return self._channel.client_network

    @property
    def client(self) -> IAddress | None:
        """The address of the client, or of its proxy."""
        return self._channel.getPeer()

    def setResponseCode(self, code: int) -> None:
        """Set the status of the response; 200 by default."""
        self.code = code

    def setHeader(self, name: str | bytes, value: str | bytes) -> None:
        """Set a header field of the response, and replace an earlier one of that name."""
        key, prefix = _name(name)
        text = value if isinstance(value, bytes) else value.encode()
        # `in` takes ten times as long for bytes.
        if text.find(b"\n") >= 0 or text.find(b"\r") >= 0:
            text = b" ".join(text.splitlines())
        self._fields[key] = prefix + text

    def set_fields(self, fields: Mapping[bytes, bytes]) -> None:
        """Set encoded header fields: the line of each, or several joined lines, by a name in lower case."""
        self._fields.update(fields)

    def add_cookie(self, name: str, value: str, *, max_age: int, secure: bool) -> None:
        """Set a cookie of all paths, which scripts cannot read and other sites cannot send (RFC 6265bis, 4.1)."""
        cookie = f"{name}={value}; Path=/; Max-Age={max_age}{'; Secure' if secure else ''}; HttpOnly; SameSite=lax"
        if not cookie.isprintable() or ";" in name + value:
            raise ValueError("The name or the value of a cookie has a character that is not allowed.")
        self._cookies = [*(self._cookies or ()), b"Set-Cookie: " + cookie.encode("ascii")]

    def write(self, data: bytes) -> None:
        """Add a part of the body. It is sent by `finish`."""
        self._body = self._body + data if self._body else data

    def finish(self) -> None:
        """Send the response. Its Content-Length is that of the body unless it has been set."""
        body, code = self._body, self.code
        is_head, has_no_body = self.method == b"HEAD", code in _NO_BODY
        # The responses to HEAD have the length of the response to GET, which may be unknown (RFC 9110, section 8.6).
        if not has_no_body and b"content-length" not in self._fields and (body or not is_head):
            self._fields[b"content-length"] = b"Content-Length: %d" % len(body)
        if is_head or has_no_body:
            body = b""
        self.sentLength = len(body)
        self.startedWriting = True
        self._channel.write(b"\r\n".join([*self._head(), b"", body]))
        self._end()

    def head(self) -> bytes:
        """Return the encoded head of the response (RFC 9112, section 4)."""
        return b"\r\n".join([*self._head(), b"", b""])

    def switch_protocol(self, protocol: IProtocol) -> bytes:
        """Finish the request and connect its transport to `protocol`; return the head of the response, still unsent."""
        return self._channel.switch_protocol(self, protocol)

    def switched(self) -> None:
        """End the request, whose response another protocol sends."""
        self.startedWriting = True
        self._end()

    def connectionLost(self, reason: Failure) -> None:
        """End the request, whose client has disconnected before the end of the response."""
        self.disconnected = True
        self._channel.site.log(self)
        on_disconnect, self.on_disconnect = self.on_disconnect, None
        if on_disconnect is not None:
            on_disconnect()

    def loseConnection(self) -> None:
        """Close the connection after all written data is sent."""
        self._channel.loseConnection()

    def isSecure(self) -> bool:
        """Return whether the connection uses TLS."""
        return self._channel.isSecure()

    def _head(self) -> list[bytes]:
        lines = [status_line(self.code), self._date, b"X-Request-Id: " + self.id.encode(), *self._fields.values()]
        if self._cookies is not None:
            lines += self._cookies
        if self._channel.closing:
            lines.append(b"Connection: close")
        return lines

    def _end(self) -> None:
        self._channel.site.log(self)
        self.on_disconnect = None
        self._channel.finished(self)


# A set is searched without comparing each code.
_NO_BODY = frozenset(NO_BODY_CODES)

_REASONS = {**RESPONSES, 429: b"Too Many Requests", 431: b"Request Header Fields Too Large"}
"""Reason phrases; twisted.web does not have those of RFC 6585."""


@lru_cache(1_000)
def _name(name: str | bytes) -> tuple[bytes, bytes]:
    """Return the key of a header field in `_fields`, and the prefix of its line."""
    encoded = name if isinstance(name, bytes) else name.encode("ascii")
    return encoded.lower(), encoded + b": "


@lru_cache(100)
def status_line(code: int) -> bytes:
    """Return the status line of a response."""
    return b"HTTP/1.1 %d %s" % (code, _REASONS.get(code, b"Unknown Status"))
