"""The request that handlers receive, and the head of its response."""

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
    """A request whose body has been read completely.

    `id` is in the response's head and in the log. `began` is the time of its first byte, in seconds of the clock.
    `received` has its header fields: the values in order by name in lower case. `disconnected` is whether the client
    has closed the connection. `errors` are the codes of the errors in the response.
    """

    # twisted.web declares its own HTTPChannel here.
    channel: Any
    content: BytesIO
    key_id: str | None = None
    errors: tuple[str, ...] = ()
    disconnected = False
    defaultContentType = None

    def __init__(self, channel: RequestChannel, message: Message, request_id: str, date: bytes) -> None:
        # Handlers parse forms themselves.
        super().__init__(channel, parsePOSTFormSubmission=False)
        # This empty attribute would hide the property below.
        del self.requestHeaders
        self.id = request_id
        self.began = message.began
        self.method, self.uri, self.clientproto = message.method, message.target, message.version
        self.path = message.target.partition(b"?")[0]
        # Handlers parse the query themselves, because twisted.web also splits it at semicolons.
        self.args = {}
        self.content = BytesIO(message.body)
        self.received: dict[bytes, list[bytes]] = message.headers
        self._fields = {b"date": b"Date: " + date, b"x-request-id": b"X-Request-Id: " + request_id.encode()}

    @cached_property
    def requestHeaders(self) -> Headers:  # type: ignore[override]
        """The header fields as twisted.web's Headers, created on first use. Hot paths do not use them."""
        headers = Headers()
        for name, values in self.received.items():
            headers.setRawHeaders(name, values)
        return headers

    def setHeader(self, name: str | bytes, value: str | bytes) -> None:
        """Set a header field of the response, and replace an earlier one of that name.

        It is stored as its encoded line: twisted.web's Headers take a tenth of the time of a response.
        """
        key, prefix = _name(name)
        text = value if isinstance(value, bytes) else value.encode()
        if b"\n" in text or b"\r" in text:
            text = b" ".join(text.splitlines())
        self._fields[key] = prefix + text

    def set_fields(self, fields: Mapping[bytes, bytes]) -> None:
        """Set encoded header fields: the line of each by its name in lower case."""
        self._fields.update(fields)

    def write(self, data: bytes) -> None:
        """Send a part of the body. The first part is sent with the head."""
        if self.startedWriting:
            super().write(data)
        elif b"content-length" in self._fields and self.etag is None and self.lastModified is None:
            # A complete response.
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
        """Return the encoded head of the response (RFC 9112, section 4)."""
        lines = [status_line(self.code, self.code_message), *self._fields.values()]
        for name, values in self.responseHeaders.getAllRawHeaders():
            lines += [b"%s: %s" % (name, value) for value in values]
        if self.channel.closing:
            lines.append(b"Connection: close")
        lines.append(b"\r\n")
        return b"\r\n".join(lines)

    def process(self) -> None:
        """Let the site respond."""
        self.site = self.channel.site
        self.channel.site.respond(self)

    def switch_protocol(self, protocol: IProtocol) -> bytes:
        """Finish the request and connect its transport to `protocol`; return the head of the response, still unsent."""
        head: bytes = self.channel.switch_protocol(self, protocol)
        return head

    def connectionLost(self, reason: Failure) -> None:
        # twisted.web logs only requests that were finished.
        self.disconnected = True
        self.channel.site.log(self)
        super().connectionLost(reason)


_REASONS = {429: b"Too Many Requests", 431: b"Request Header Fields Too Large"}
"""Reason phrases that twisted.web does not have (RFC 6585)."""


@lru_cache(1_000)
def _name(name: str | bytes) -> tuple[bytes, bytes]:
    """Return the key of a header field in `_fields`, and the prefix of its line."""
    encoded = name if isinstance(name, bytes) else name.encode("ascii")
    return encoded.lower(), encoded + b": "


@lru_cache(100)
def status_line(code: int, reason: bytes = b"") -> bytes:
    """Return the status line of a response."""
    # twisted.web's own reason phrase for these is "Unknown Status".
    return b"HTTP/1.1 %d %s" % (code, _REASONS.get(code) or reason or RESPONSES.get(code, b""))
