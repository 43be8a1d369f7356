"""The head of a response: status line, header fields, cookies and ETag."""

from __future__ import annotations

from typing import Any

import pytest


class Channel:
    """Records what a request writes."""

    factory = transport = None
    closing = False

    def __init__(self) -> None:
        self.sent = b""

    def getPeer(self) -> None: ...

    def getHost(self) -> None: ...

    def write(self, data: bytes) -> None:
        self.sent += data

    def writeSequence(self, parts: list[bytes]) -> None:
        self.write(b"".join(parts))

    def requestDone(self, request: object) -> None: ...


@pytest.fixture
def channel() -> Channel:
    return Channel()


@pytest.fixture
def http_request(channel: Channel) -> Any:
    from directory_server.http._parser import Message
    from directory_server.http._request import Request

    http_request = Request(channel, Message(b"GET", b"/", b"HTTP/1.1"), "id-1", b"now")  # type: ignore[arg-type]
    channel.writeHeaders = lambda *_: channel.write(http_request.head())  # type: ignore[attr-defined]
    return http_request


def test_the_last_value_of_a_field_is_sent(channel: Channel, http_request: Any) -> None:
    http_request.setHeader("Content-Length", "2")
    http_request.setHeader("Vary", "Accept")
    http_request.setHeader(b"vary", b"Origin")
    http_request.write(b"{}")
    assert (
        channel.sent
        == b"HTTP/1.1 200 OK\r\nDate: now\r\nX-Request-Id: id-1\r\nContent-Length: 2\r\nvary: Origin\r\n\r\n{}"
    )


@pytest.mark.parametrize(
    ("code", "name"), [(429, b"Too Many Requests"), (431, b"Request Header Fields Too Large"), (404, b"Not Found")]
)
def test_every_status_has_a_reason_phrase(channel: Channel, http_request: Any, code: int, name: bytes) -> None:
    http_request.setResponseCode(code)
    http_request.setHeader("Content-Length", "0")
    http_request.write(b"")
    assert channel.sent.startswith(b"HTTP/1.1 %d %s\r\n" % (code, name))


def test_line_breaks_in_values_are_removed(channel: Channel, http_request: Any) -> None:
    http_request.setHeader("Content-Length", "0")
    http_request.setHeader("Link", "a\r\nSet-Cookie: stolen\nb")
    http_request.write(b"")
    assert b"\r\nLink: a Set-Cookie: stolen b\r\n" in channel.sent


@pytest.mark.parametrize("length", [None, "2"])
@pytest.mark.parametrize("etag", [None, b'"v1"'])
def test_cookies_and_etags_are_sent_with_and_without_a_length(
    channel: Channel, http_request: Any, length: str | None, etag: bytes | None
) -> None:
    if length:
        http_request.setHeader("Content-Length", length)
    if etag:
        http_request.setETag(etag)
    http_request.setHeader("Cache-Control", "no-store")
    http_request.addCookie("a", "1")
    http_request.addCookie("b", "2")
    http_request.write(b"{}")
    head, _, body = channel.sent.partition(b"\r\n\r\n")
    fields = head.split(b"\r\n")[1:]
    assert sorted(field for field in fields if field.startswith(b"Set-Cookie")) == [
        b"Set-Cookie: a=1",
        b"Set-Cookie: b=2",
    ]
    assert fields.count(b"Cache-Control: no-store") == 1
    assert [field for field in fields if field.lower().startswith(b"etag")] == ([b'ETag: "v1"'] if etag else [])
    assert [field for field in fields if field.startswith(b"Content-Length")] == ([b"Content-Length: 2"] * bool(length))
    assert body == (b"{}" if length else b"2\r\n{}\r\n")
