"""Bytes to requests: HTTP/1.1 (RFC 9112) as llhttp reads it, strictly, and within bounds."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from enum import Enum

import httptools
from attrs import define, field

from .errors import HttpError

MAX_TARGET = 8 * 1024
"""Bytes of a request's target: its path and query."""

MAX_FIELDS = 100
"""Header fields of a request."""

MAX_HEAD = 16 * 1024
"""Bytes of all its header fields, names and values."""

MAX_BODY = 64 * 1024
"""Bytes of a request's body."""

MAX_WIRE = 8 * MAX_BODY
"""Bytes that a request may take on the wire, however its body is cut into chunks."""

LONGEST_METHOD = 42
"""Bytes that are kept of what may be an unknown method."""

_ABSOLUTE = re.compile(rb"https?://([^/?#]*)([^#]*)", re.IGNORECASE)
_HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~%!$&'()*+,;=-]*)(?::[0-9]*)?")
_METHOD = re.compile(rb"[A-Z-]+(?: |$)")
_METHODS = frozenset({b"GET", b"HEAD", b"POST", b"PUT", b"PATCH", b"DELETE", b"OPTIONS", b"TRACE"})
"""What HTTP itself defines (RFC 9110, section 9; RFC 5789), CONNECT apart."""


class Phase(Enum):
    """What the parser waits for."""

    REQUEST = "the next request"
    HEAD = "the rest of a head"
    BODY = "the rest of a body"


@define(eq=False)
class Message:
    """A request as it came: `headers` by name in lower case, each with its values in order."""

    method: bytes = b""
    target: bytes = b""
    version: bytes = b""
    headers: dict[bytes, list[bytes]] = field(factory=dict)
    body: bytes = b""
    keep_alive: bool = False
    began: float = 0.0


class Parser:
    """Takes requests out of the bytes of one connection.

    `messages` are those that are complete; `refusal` is why nothing that follows them will be read. `phase` is what it
    waits for, and `since` from when, in seconds of `now`. `wants_continue` tells that a client waits for leave to send
    the body (RFC 9110, section 10.1.1).
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.messages: deque[Message] = deque()
        self.refusal: HttpError | None = None
        self.phase = Phase.REQUEST
        self.since = now()
        self.wants_continue = False
        self._now = now
        self._wire = 0
        self._line = b""
        self._llhttp = httptools.HttpRequestParser(self)
        self._begin()

    def feed(self, data: bytes) -> None:
        """Read more bytes; after a refusal, or a request that is the last of its connection, they are ignored."""
        if self.refusal is not None or self._last:
            return
        if self.phase is Phase.REQUEST:
            self._wire = 0
            self._line = b""
        self._wire += len(data)
        self._line = (self._line + data[:LONGEST_METHOD])[:LONGEST_METHOD]
        try:
            self._llhttp.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._decline(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            # Bytes behind the last request of a connection are nobody's business.
            if not self._last:
                self._refuse(error)
        else:
            # llhttp tells of a field when it has the whole of it.
            if self.phase is Phase.HEAD and self._wire > MAX_TARGET + 2 * MAX_HEAD:
                self.refusal = _head_too_large()
            elif self.phase is Phase.BODY and self._wire > MAX_WIRE:
                self.refusal = _body_too_large()

    def close(self) -> None:
        """Let go of llhttp, which holds the parser in turn: neither waits for the collector then."""
        del self._llhttp

    @property
    def path(self) -> bytes:
        """The path of the request that is being read, as far as it is known."""
        return self._message.target.partition(b"?")[0]

    def _refuse(self, error: httptools.HttpParserError) -> None:
        reason = error.__context__
        if isinstance(error, httptools.HttpParserCallbackError) and isinstance(reason, HttpError):
            self.refusal = reason
        elif self._line.startswith(b"PRI * HTTP/2"):
            # The preface of HTTP/2 (RFC 9113, section 3.4).
            self.refusal = HttpError(505, "http_version", "HTTP/2 is not supported. Use HTTP/1.1.")
        elif isinstance(error, httptools.HttpParserInvalidMethodError) and _METHOD.match(self._line):
            self.refusal = HttpError(501, "not_implemented", "This server knows no such method.")
        else:
            said = str(error).rstrip(".")
            self.refusal = HttpError(400, "bad_request", f"This is not HTTP/1.1: {said[:1].lower()}{said[1:]}.")

    def _decline(self, rest: bytes) -> None:
        """Read the head again without the offer to speak something else, which nobody has to take up (RFC 9110, 7.8).

        llhttp stops behind such a head, whatever body it announces; Java's client sends one with its first request.
        """
        message = self._message
        lines = [b"%s %s %s" % (message.method, message.target, message.version)]
        for name, values in message.headers.items():
            lines += [b"%s: %s" % (name, value) for value in values if name != b"upgrade"]
        self._llhttp = httptools.HttpRequestParser(self)
        self.feed(b"\r\n".join([*lines, b"", rest]))

    def _begin(self) -> None:
        self._message = Message()
        self._fields: list[tuple[bytes, bytes]] = []
        self._head = 0
        self._length = 0
        self._body: list[bytes] = []
        self._last = False

    # What httptools calls.

    def on_message_begin(self) -> None:
        self._begin()
        self.phase = Phase.HEAD
        self._message.began = self.since = self._now()

    def on_url(self, url: bytes) -> None:
        message = self._message
        # It comes in pieces where the network cut it.
        message.target += url
        if len(message.target) > MAX_TARGET:
            raise HttpError(414, "uri_too_long", f"The target is longer than {MAX_TARGET:,} bytes.")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head += len(name) + len(value)
        self._fields.append((name, value))
        if len(self._fields) > MAX_FIELDS or self._head > MAX_HEAD:
            raise _head_too_large()

    def on_headers_complete(self) -> None:
        message, llhttp = self._message, self._llhttp
        headers = message.headers
        # Those that follow a chunked body say nothing that anybody here reads.
        for name, value in self._fields:
            headers.setdefault(name.lower(), []).append(value)
        message.method = llhttp.get_method()
        message.version = b"HTTP/" + llhttp.get_http_version().encode()
        message.keep_alive = llhttp.should_keep_alive() and message.version == b"HTTP/1.1"
        if message.version not in (b"HTTP/1.1", b"HTTP/1.0"):
            raise HttpError(505, "http_version", "Only HTTP/1.1 and HTTP/1.0 are spoken here.")
        if message.method not in _METHODS:
            raise HttpError(501, "not_implemented", "This server knows no such method.")
        _check_coding(message)
        _check_target(message)
        if b"content-length" in headers and int(headers[b"content-length"][0]) > MAX_BODY:
            raise _body_too_large()
        if b"expect" in headers and message.version == b"HTTP/1.1":
            self.wants_continue = b"100-continue" in [value.lower() for value in headers[b"expect"]]
        self.phase, self.since = Phase.BODY, self._now()

    def on_body(self, body: bytes) -> None:
        self._body.append(body)
        self._length += len(body)
        self.wants_continue = False
        if self._length > MAX_BODY:
            raise _body_too_large()

    def on_message_complete(self) -> None:
        if self._llhttp.should_upgrade():
            return
        message = self._message
        message.body = b"".join(self._body)
        self.phase, self.since = Phase.REQUEST, self._now()
        self.wants_continue = False
        self._wire = 0
        self._last = not message.keep_alive
        self.messages.append(message)


def _head_too_large() -> HttpError:
    return HttpError(431, "head_too_large", f"At most {MAX_FIELDS} fields of {MAX_HEAD:,} bytes are read of a head.")


def _body_too_large() -> HttpError:
    return HttpError(413, "too_large", f"At most {MAX_BODY:,} bytes of a body are read.")


def _check_coding(message: Message) -> None:
    coding = message.headers.get(b"transfer-encoding")
    if coding and (message.version == b"HTTP/1.0" or coding[0].lower() != b"chunked"):
        raise HttpError(400, "bad_request", "Transfer-Encoding: only chunked is read, and only with HTTP/1.1.")


def _check_target(message: Message) -> None:
    """Bring the target to its origin form (RFC 9112, section 3.2), and demand that one host is named."""
    hosts = message.headers.get(b"host", [])
    if len(hosts) > 1 or (not hosts and message.version == b"HTTP/1.1"):
        raise HttpError(400, "bad_request", f"Host: must be given once, not {len(hosts)} times.")
    if message.target[:1] != b"/" and (absolute := _ABSOLUTE.fullmatch(message.target)):
        hosts = message.headers[b"host"] = [absolute[1]]
        message.target = absolute[2] if absolute[2].startswith(b"/") else b"/" + absolute[2]
    if hosts and not _HOST.fullmatch(hosts[0]):
        raise HttpError(400, "bad_request", "Host: is no host, or host and port.")
    if message.target[:1] != b"/" and (message.method, message.target) != (b"OPTIONS", b"*"):
        raise HttpError(400, "bad_request", "The target of a request must begin with a slash.")
    if b"#" in message.target:
        raise HttpError(400, "bad_request", "The target of a request has no fragment.")
