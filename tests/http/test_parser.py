"""The request parser: accepted requests, errors and limits, for any segmentation of the data."""

from __future__ import annotations

import tracemalloc
from collections import deque
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from directory_server.http._parser import Message, Parser

HOST = b"Host: a\r\n"


def parser() -> Parser:
    from directory_server.http._parser import Parser

    return Parser(lambda: 0.0)


def read(*pieces: bytes) -> Parser:
    """Return a parser after `pieces`, whose `messages` are all requests, as if each had been answered at once."""
    parsed = parser()
    answered: deque[Message] = deque()
    for piece in pieces:
        parsed.feed(piece)
        while parsed.messages:
            answered.append(parsed.messages.popleft())
            parsed.parse()
    parsed.messages = answered
    return parsed


def error_of(data: bytes) -> tuple[int, str]:
    parsed = read(data)
    assert not parsed.messages
    assert parsed.error is not None
    return parsed.error.response.status, parsed.error.response.code


def test_parses_a_request() -> None:
    (message,) = read(b"POST /a?b=c HTTP/1.1\r\nHost: a\r\nX-Y: 1\r\nx-y: 2\r\nContent-Length: 2\r\n\r\nhi").messages
    assert (message.method, message.target, message.version) == (b"POST", b"/a?b=c", b"HTTP/1.1")
    assert message.headers[b"x-y"] == [b"1", b"2"]
    assert message.body == b"hi"
    assert message.keep_alive


def test_a_body_of_small_chunks_takes_little_memory() -> None:
    """A list of the chunks took 1.8 MB for a body of 62 KB."""
    parsed = parser()
    parsed.feed(b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n")
    data = b"2\r\nab\r\n" * 31_000
    tracemalloc.start()
    for begin in range(0, len(data), 16_384):
        parsed.feed(data[begin : begin + 16_384])
    memory, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert memory < 200_000
    assert parsed.held >= 62_000
    parsed.feed(b"0\r\n\r\n")
    assert parsed.messages[0].body == b"ab" * 31_000
    assert parsed.held == 0


@pytest.mark.parametrize(
    ("head", "target", "host"),
    [
        (b"GET http://b.example/x?y HTTP/1.1\r\nHost: a", b"/x?y", [b"b.example"]),
        (b"GET HTTP://b.example?y HTTP/1.1\r\nHost: a", b"/?y", [b"b.example"]),
        (b"OPTIONS * HTTP/1.1\r\nHost: a", b"*", [b"a"]),
        (b"GET /x HTTP/1.1\r\nHost: [::1]:80", b"/x", [b"[::1]:80"]),
        (b"GET /x HTTP/1.1\r\nHost:", b"/x", [b""]),
        (b"GET /x HTTP/1.0\r\nX: y", b"/x", None),
    ],
)
def test_converts_targets_to_origin_form(head: bytes, target: bytes, host: Any) -> None:
    (message,) = read(head + b"\r\n\r\n").messages
    assert message.target == target
    assert message.headers.get(b"host") == host


@pytest.mark.parametrize("body", [b"", b"hello"])
def test_ignores_upgrade(body: bytes) -> None:
    first = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    first += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    parsed = read(first + b"GET /b HTTP/1.1\r\nHost: a\r\n\r\n")
    assert [(each.target, each.body) for each in parsed.messages] == [(b"/", body), (b"/b", b"")]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", (400, "bad_request")),
        (b"FOO / HTTP/1.1\r\nHost: a\r\n\r\n", (501, "not_implemented")),
        (b"GET /\r\n\r\n", (505, "http_version")),
        (b"GET / HTTP/1.2\r\nHost: a\r\n\r\n", (400, "bad_request")),
        (b"OPTIONS / RTSP/1.0\r\nHost: a\r\n\r\n", (400, "bad_request")),
        (b"GET /" + b"a" * 8000 + b" RTSP/1.0\r\nHost: a\r\n\r\n", (400, "bad_request")),
        (b"GET /" + b" " * 8000 + b"RTSP/1.0\r\nHost: a\r\n\r\n", (400, "bad_request")),
        (b"GET / ICE/1.0\r\nHost: a\r\n\r\n", (400, "bad_request")),
        (b"SOURCE / ICE/1.0\r\nHost: a\r\n\r\n", (501, "not_implemented")),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n", (413, "too_large")),
        (b"GET /" + b"a" * 8192 + b" HTTP/1.1\r\n", (414, "uri_too_long")),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 102, (431, "head_too_large")),
        (b"GET / HTTP/1.1\r\n" + (b"A: " + b"b" * 4_000 + b"\r\n") * 6, (431, "head_too_large")),
    ],
)
def test_rejects(data: bytes, expected: tuple[int, str]) -> None:
    """Each error, and requests of other protocols. `tests/hostile/_framing.py` has the other forms."""
    assert error_of(data) == expected


def test_a_field_may_name_another_protocol() -> None:
    assert len(read(b"GET / HTTP/1.1\r\nHost: a\r\nA: GET / RTSP/1.0\r\nVia: RTSP/1.0 a\r\n\r\n").messages) == 1


def test_a_later_request_of_another_protocol_is_rejected() -> None:
    parsed = read(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert parsed.messages.popleft().version == b"HTTP/1.1"
    for byte in b"GET / RTSP/1.0\r\nHost: a\r\n\r\n":
        parsed.feed(bytes([byte]))
    assert parsed.error is not None
    assert not parsed.messages


@pytest.mark.parametrize(
    ("line", "keep"),
    [
        (b"GET / HTTP/1.1\r\nHost: a", True),
        (b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close", False),
        (b"GET / HTTP/1.0\r\nHost: a", False),
        (b"GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive", False),
    ],
)
def test_recognises_the_last_request_of_a_connection(line: bytes, keep: bool) -> None:
    parsed = read(line + b"\r\n\r\n", b"" if keep else b"GARBAGE\r\n")
    (message,) = parsed.messages
    assert message.keep_alive is keep
    assert parsed.error is None
