"""Parse HTTP/1.1 requests (RFC 9112) with llhttp, strictly and with size limits; check target and Host field."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from enum import Enum
from functools import lru_cache

import httptools
from attrs import define, field

from .errors import HttpError

MAX_TARGET = 8 * 1024
"""Maximum bytes of a request target (path and query)."""

MAX_FIELDS = 100
"""Maximum header fields of a request."""

MAX_HEAD = 16 * 1024
"""Maximum bytes of all names and values of header fields."""

MAX_BODY = 64 * 1024
"""Maximum bytes of a request body."""

MAX_WIRE = 8 * MAX_BODY
"""Maximum received bytes of a request, with the overhead of chunks."""

PIECE = 1024
"""Bytes that are parsed at a time. They may have several requests."""

FIELD = 300
"""Bytes of memory that a header field takes besides its name and value, approximately."""

_METHOD = re.compile(rb"[A-Z-]+(?: |$)")
# llhttp reads RTSP as well, and does not tell. No field line and no line of a JSON document has this form.
_RTSP = re.compile(rb"^[A-Z]+ +[^ \n]+ +RTSP/", re.MULTILINE)
_METHODS = frozenset({b"GET", b"HEAD", b"POST", b"PUT", b"PATCH", b"DELETE", b"OPTIONS", b"TRACE"})
"""The methods of HTTP (RFC 9110, section 9; RFC 5789) except CONNECT."""


class Phase(Enum):
    """The part of a request that the parser expects next. The value is its name in error messages."""

    REQUEST = "the next request"
    HEAD = "the rest of a head"
    BODY = "the rest of a body"


# Reading a member of an enumeration takes as long as calling a function.
_REQUEST, _HEAD, _BODY = Phase


@define(eq=False)
class Message:
    """A parsed request. `headers` has the values in order by name in lower case."""

    method: bytes = b""
    target: bytes = b""
    version: bytes = b""
    headers: dict[bytes, list[bytes]] = field(factory=dict)
    body: bytes = b""
    keep_alive: bool = False
    began: float = 0.0


class Parser:
    """The request parser of one connection.

    `messages` are the complete requests. While there are any, further bytes are not parsed but `waiting`, because a
    parsed request takes far more memory. After an `error`, no more data is parsed. `phase` is the current
    phase, and `since` the time when it began, in seconds of `now`. `wants_continue` is whether the client waits for a
    100 (Continue) response before it sends the body (RFC 9110, section 10.1.1).
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.messages: deque[Message] = deque()
        self.waiting = b""
        self.error: HttpError | None = None
        self.phase = _REQUEST
        self.since = now()
        self.wants_continue = False
        self._now = now
        self._wire = 0
        self._line = self._piece = b""
        self._llhttp = httptools.HttpRequestParser(self)
        self._target = b""
        self._method = self._version = b""
        self._headers: dict[bytes, list[bytes]] = {}
        self._head = self._fields = 0
        # Not a list of chunks: a chunk of two bytes would take sixty.
        self._body = bytearray()
        self._last = self._keep_alive = False
        self._began = 0.0

    def feed(self, data: bytes) -> None:
        """Parse more data. Ignore it after an error or after the last request of the connection."""
        if self.waiting or self.messages:
            self.waiting += data
            return
        self.waiting = data
        self.parse()

    def parse(self) -> None:
        """Parse the waiting data until a request is complete."""
        while self.waiting and not self.messages:
            piece, self.waiting = self.waiting[:PIECE], self.waiting[PIECE:]
            self._parse(piece)
            if self.error is not None or self._last:
                self.waiting = b""

    def _parse(self, data: bytes) -> None:
        if self.error is not None or self._last:
            return
        if self.phase is _REQUEST:
            self._wire = len(data)
            self._line = data
        else:
            self._wire += len(data)
            if self.phase is _HEAD and not self._fields:
                self._line += data
        self._piece = data
        try:
            self._llhttp.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._ignore_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            # Ignore invalid bytes after the last request.
            if not self._last:
                self._fail(error)
        else:
            # llhttp reports a field when it is complete, so `on_header` cannot limit an endless one.
            if self.phase is _HEAD and self._wire > MAX_TARGET + 2 * MAX_HEAD:
                self.error = _head_too_large()
            elif self.phase is _BODY and self._wire > MAX_WIRE:
                self.error = _body_too_large()
        self._piece = b""

    def close(self) -> None:
        """Break the reference cycle with llhttp."""
        del self._llhttp

    @property
    def held(self) -> int:
        """Bytes of memory that incomplete and waiting requests take, approximately."""
        incomplete = 0 if self.phase is _REQUEST else self._wire + FIELD * len(self._headers)
        return len(self.waiting) + incomplete

    @property
    def path(self) -> bytes:
        """The path of the current request; empty or incomplete while its target is being received."""
        return self._target.partition(b"?")[0]

    def _fail(self, error: httptools.HttpParserError) -> None:
        reason = error.__context__
        if isinstance(error, httptools.HttpParserCallbackError) and isinstance(reason, HttpError):
            self.error = reason
        elif self._line.startswith(b"PRI * HTTP/2"):
            # The HTTP/2 connection preface (RFC 9113, section 3.4).
            self.error = HttpError(505, "http_version", "HTTP/2 is not supported. Use HTTP/1.1.")
        elif isinstance(error, httptools.HttpParserInvalidMethodError) and _METHOD.match(self._line):
            self.error = HttpError(501, "not_implemented", "This method is not supported.")
        else:
            detail = str(error).rstrip(".")
            self.error = HttpError(400, "bad_request", f"Invalid HTTP/1.1 request: {detail[:1].lower()}{detail[1:]}.")

    def _ignore_upgrade(self, rest: bytes) -> None:
        """Parse the head again without its Upgrade field, which a server may ignore (RFC 9110, section 7.8).

        llhttp stops after a head with Upgrade, even if a body follows. Java's client sends Upgrade at first.
        """
        lines = [b"%s %s %s" % (self._method, self._target, self._version)]
        for name, values in self._headers.items():
            lines += [b"%s: %s" % (name, value) for value in values if name != b"upgrade"]
        self._llhttp = httptools.HttpRequestParser(self)
        self._parse(b"\r\n".join([*lines, b"", rest]))

    # Callbacks of httptools.

    def on_message_begin(self) -> None:
        self._line = self._piece
        self._target = b""
        self._headers = {}
        self._head = self._fields = 0
        self._body = bytearray()
        self._last = False
        self.phase = _HEAD
        self._began = self.since = self._now()

    def on_url(self, url: bytes) -> None:
        # llhttp calls this for each received part of the target.
        self._target += url
        if len(self._target) > MAX_TARGET:
            raise HttpError(414, "uri_too_long", f"The request target must have at most {MAX_TARGET:,} bytes.")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head += len(name) + len(value)
        self._fields += 1
        if self._fields > MAX_FIELDS or self._head > MAX_HEAD:
            raise _head_too_large()
        # Trailer fields, which come after a chunked body, are ignored.
        if self.phase is _HEAD:
            name = name.lower()
            if name in self._headers:
                self._headers[name].append(value)
            else:
                self._headers[name] = [value]

    def on_headers_complete(self) -> None:
        llhttp, headers = self._llhttp, self._headers
        self._method = method = llhttp.get_method()
        version = llhttp.get_http_version()
        is_current = version == "1.1"
        self._version = b"HTTP/1.1" if is_current else b"HTTP/" + version.encode()
        self._keep_alive = is_current and llhttp.should_keep_alive()
        if not is_current and version != "1.0":
            raise HttpError(505, "http_version", "Only HTTP/1.1 and HTTP/1.0 are supported.")
        # To search the bytes for the name first takes a tenth of the time.
        if self._line.find(b"RTSP/") >= 0 and _RTSP.search(self._line):
            raise HttpError(400, "bad_request", "Only the protocol HTTP is supported. Use HTTP/1.1.")
        self._line = b""
        if method not in _METHODS:
            raise HttpError(501, "not_implemented", "This method is not supported.")
        coding = headers.get(b"transfer-encoding")
        if coding and (not is_current or coding[0].lower() != b"chunked"):
            raise HttpError(400, "bad_request", "Transfer-Encoding must be chunked, and requires HTTP/1.1.")
        self._target = checked_target(method, self._target, headers, is_current)
        if b"content-length" in headers and int(headers[b"content-length"][0]) > MAX_BODY:
            raise _body_too_large()
        if is_current and b"expect" in headers:
            self.wants_continue = b"100-continue" in [value.lower() for value in headers[b"expect"]]
        self.phase, self.since = _BODY, self._now()

    def on_body(self, body: bytes) -> None:
        self._body += body
        self.wants_continue = False
        if len(self._body) > MAX_BODY:
            raise _body_too_large()

    def on_message_complete(self) -> None:
        if self._llhttp.should_upgrade():
            return
        body, self._body = bytes(self._body), bytearray()
        message = Message(self._method, self._target, self._version, self._headers, body, self._keep_alive, self._began)
        self.messages.append(message)
        self._last = not self._keep_alive
        self.phase, self.since = _REQUEST, self._now()
        self.wants_continue = False
        self._wire = 0


def _head_too_large() -> HttpError:
    return HttpError(431, "head_too_large", f"The head must have at most {MAX_FIELDS} fields and {MAX_HEAD:,} bytes.")


def _body_too_large() -> HttpError:
    return HttpError(413, "too_large", f"The body must have at most {MAX_BODY:,} bytes.")


_ABSOLUTE = re.compile(rb"https?://([^/?#]*)([^#]*)", re.IGNORECASE)
_HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~%!$&'()*+,;=-]*)(?::[0-9]*)?")


def checked_target(method: bytes, target: bytes, headers: dict[bytes, list[bytes]], is_current: bool) -> bytes:
    """Return the target in origin form (RFC 9112, section 3.2); check it and the Host field.

    An absolute target replaces the Host field.
    """
    hosts = headers.get(b"host", [])
    if len(hosts) != 1 and (hosts or is_current):
        raise HttpError(400, "bad_request", f"The Host header must be sent exactly once, not {len(hosts)} times.")
    if target[:1] != b"/" and (absolute := _ABSOLUTE.fullmatch(target)):
        hosts = headers[b"host"] = [absolute[1]]
        target = absolute[2] if absolute[2].startswith(b"/") else b"/" + absolute[2]
    if hosts and not is_host(hosts[0]):
        raise HttpError(400, "bad_request", "The Host header must be a host, or a host and a port.")
    if target[:1] != b"/" and (method, target) != (b"OPTIONS", b"*"):
        raise HttpError(400, "bad_request", "The request target must begin with a slash.")
    if b"#" in target:
        raise HttpError(400, "bad_request", "The request target must not have a fragment (#).")
    return target


@lru_cache(64)
def is_host(value: bytes) -> bool:
    """Return whether `value` is a host, or a host and a port. An empty host is one (RFC 9110, section 7.2)."""
    return _HOST.fullmatch(value) is not None
