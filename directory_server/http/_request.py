"""A request as the tree sees it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from io import BytesIO
from typing import Any, Protocol

from twisted.internet.interfaces import IProtocol
from twisted.python.failure import Failure
from twisted.web import server
from twisted.web.http import NO_BODY_CODES, RESPONSES
from twisted.web.http_headers import Headers

from ._parser import Message

_CORS_METHODS = "GET, HEAD, POST, DELETE, OPTIONS"
_CORS_REQUEST_HEADERS = (
    "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name"
)
_CORS_RESPONSE_HEADERS = (
    "Link, Mcp-Session-Id, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, "
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id"
)


class RequestHandler(Protocol):
    """The methods of a site that a request calls."""

    def respond(self, request: Request) -> None:
        """Send the response to `request`."""

    def log(self, request: Request) -> None:
        """Log `request`, which has ended."""


class RequestChannel(Protocol):
    """The attributes and methods of a connection that a request uses, beside those of twisted.web's channel."""

    closing: bool

    @property
    def site(self) -> RequestHandler:
        """The site that the connection belongs to."""

    def write(self, data: bytes, /) -> None:
        """Send bytes of the response."""

    def switch_protocol(self, request: Request, protocol: IProtocol) -> bytes:
        """Finish `request`, connect the transport to `protocol`, and return the head of the response."""


class Request(server.Request):
    """A request that was read as a whole before anybody sees it, and is answered by its site.

    `id` is in the head of its answer and in the log; `began` is when its first byte came, in seconds of the clock;
    `received` are its header fields, each name in lower case with its values in order; `gone` tells that the client
    has left; `errors` are the codes of the errors in its answer.
    """

    # twisted.web declares its own HTTPChannel here.
    channel: Any
    content: BytesIO
    key_id: str | None = None
    errors: tuple[str, ...] = ()
    gone = False
    defaultContentType = None

    def __init__(self, channel: RequestChannel, message: Message, request_id: str, date: bytes) -> None:
        # Nobody here takes forms, and twisted.web would read each POST for one.
        super().__init__(channel, parsePOSTFormSubmission=False)
        # They are empty yet, and hide the property below.
        del self.requestHeaders
        self.id = request_id
        self.began = message.began
        self.method, self.uri, self.clientproto = message.method, message.target, message.version
        self.path = message.target.partition(b"?")[0]
        # The doors read the target themselves; twisted.web splits it at semicolons, too.
        self.args = {}
        self.content = BytesIO(message.body)
        self.received: dict[bytes, list[bytes]] = message.headers
        self._fields = {b"date": b"Date: " + date, b"x-request-id": b"X-Request-Id: " + request_id.encode()}

    @cached_property
    def requestHeaders(self) -> Headers:  # type: ignore[override]
        """The header fields as twisted.web has them, made for those who ask: nobody on the paths that are hot."""
        headers = Headers()
        for name, values in self.received.items():
            headers.setRawHeaders(name, values)
        return headers

    def setHeader(self, name: str | bytes, value: str | bytes) -> None:
        """Say `value` in the head of the answer, instead of what was said under that name.

        It is kept as the line that it will be: twisted.web's Headers take a tenth of the time of an answer.
        """
        key, written = _name(name)
        text = value if isinstance(value, bytes) else value.encode()
        if b"\n" in text or b"\r" in text:
            text = b" ".join(text.splitlines())
        self._fields[key] = written + text

    def set_fields(self, fields: Mapping[bytes, bytes]) -> None:
        """Say fields that were written before: the line of each by its name in lower case."""
        self._fields.update(fields)

    def write(self, data: bytes) -> None:
        """Send a part of the body; with the first goes the head."""
        if self.startedWriting:
            super().write(data)
        elif b"content-length" in self._fields and self.etag is None and self.lastModified is None:
            # The whole of an answer, as the doors give it.
            self.startedWriting = 1
            if self.cookies:
                self.responseHeaders.setRawHeaders(b"Set-Cookie", self.cookies)
            if self.method == b"HEAD" or self.code in NO_BODY_CODES:
                data = b""
            self.sentLength = len(data)
            self.channel.write(self.head() + data)
        else:
            for line in self._fields.values():
                name, _, value = line.partition(b": ")
                self.responseHeaders.setRawHeaders(name, [value])
            self._fields.clear()
            super().write(data)

    def head(self) -> bytes:
        """Return the head of the answer as it is now (RFC 9112, section 4)."""
        lines = [status_line(self.code, self.code_message), *self._fields.values()]
        for name, values in self.responseHeaders.getAllRawHeaders():
            lines += [b"%s: %s" % (name, value) for value in values]
        if self.channel.closing:
            lines.append(b"Connection: close")
        lines.append(b"\r\n")
        return b"\r\n".join(lines)

    def process(self) -> None:
        """Have the site answer."""
        self.site = self.channel.site
        self.channel.site.respond(self)

    def switch_protocol(self, protocol: IProtocol) -> bytes:
        """Finish the request and connect its transport to `protocol`; return the head of the response, still unsent."""
        head: bytes = self.channel.switch_protocol(self, protocol)
        return head

    def connectionLost(self, reason: Failure) -> None:
        # Only finished requests are logged by twisted.web, and a client may leave before that.
        self.gone = True
        self.channel.site.log(self)
        super().connectionLost(reason)

    def allow_all(self) -> None:
        """Let any page read the answer."""
        self.setHeader("Access-Control-Allow-Origin", "*")
        self.setHeader("Access-Control-Expose-Headers", "ETag, Retry-After, X-Request-Id")
        if self.method == b"OPTIONS":
            self.setHeader("Access-Control-Allow-Methods", "GET, OPTIONS")
            self.setHeader("Access-Control-Allow-Headers", "Authorization, Content-Type")
            self.setHeader("Access-Control-Max-Age", "600")

    def allow(self, origin: str) -> None:
        """Let the page that asks read the answer (Fetch, section 3.3)."""
        self.setHeader("Access-Control-Allow-Origin", origin)
        self.setHeader("Access-Control-Expose-Headers", _CORS_RESPONSE_HEADERS)
        self.setHeader("Vary", "Origin")
        if self.method == b"OPTIONS":
            self.setHeader("Access-Control-Allow-Methods", _CORS_METHODS)
            self.setHeader("Access-Control-Allow-Headers", _CORS_REQUEST_HEADERS)
            self.setHeader("Access-Control-Max-Age", "600")


_NAMES = {429: b"Too Many Requests", 431: b"Request Header Fields Too Large"}
"""What twisted.web has no name for (RFC 6585)."""


@lru_cache(1_000)
def _name(name: str | bytes) -> tuple[bytes, bytes]:
    """Return what stands for the name of a header field, and the beginning of its line."""
    written = name if isinstance(name, bytes) else name.encode("ascii")
    return written.lower(), written + b": "


@lru_cache(100)
def status_line(code: int, reason: bytes = b"") -> bytes:
    """Return the first line of an answer."""
    # twisted.web says "Unknown Status" of those it has no name for.
    return b"HTTP/1.1 %d %s" % (code, _NAMES.get(code) or reason or RESPONSES.get(code, b""))
