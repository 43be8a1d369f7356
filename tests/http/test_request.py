"""The head of an answer: what is said in it, whichever way it is said."""

from __future__ import annotations

from typing import Any

import pytest


class Channel:
    """Takes what a request writes."""

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
def request_of(channel: Channel) -> Any:
    from directory_server.http._parser import Message
    from directory_server.http._request import Request

    made = Request(channel, Message(b"GET", b"/", b"HTTP/1.1"), "id-1", b"now")  # type: ignore[arg-type]
    channel.writeHeaders = lambda *_: channel.write(made.head())  # type: ignore[attr-defined]
    return made


def test_a_field_is_said_once_and_as_last_set(channel: Channel, request_of: Any) -> None:
    request_of.setHeader("Content-Length", "2")
    request_of.setHeader("Vary", "Accept")
    request_of.setHeader(b"vary", b"Origin")
    request_of.write(b"{}")
    assert (
        channel.sent
        == b"HTTP/1.1 200 OK\r\nDate: now\r\nX-Request-Id: id-1\r\nContent-Length: 2\r\nvary: Origin\r\n\r\n{}"
    )


@pytest.mark.parametrize(
    ("code", "name"), [(429, b"Too Many Requests"), (431, b"Request Header Fields Too Large"), (404, b"Not Found")]
)
def test_every_status_has_its_name(channel: Channel, request_of: Any, code: int, name: bytes) -> None:
    request_of.setResponseCode(code)
    request_of.setHeader("Content-Length", "0")
    request_of.write(b"")
    assert channel.sent.startswith(b"HTTP/1.1 %d %s\r\n" % (code, name))


def test_a_value_cannot_begin_another_line(channel: Channel, request_of: Any) -> None:
    request_of.setHeader("Content-Length", "0")
    request_of.setHeader("Link", "a\r\nSet-Cookie: stolen\nb")
    request_of.write(b"")
    assert b"\r\nLink: a Set-Cookie: stolen b\r\n" in channel.sent


@pytest.mark.parametrize("length", [None, "2"])
@pytest.mark.parametrize("etag", [None, b'"v1"'])
def test_cookies_and_tags_are_said_whichever_way_the_head_is_made(
    channel: Channel, request_of: Any, length: str | None, etag: bytes | None
) -> None:
    if length:
        request_of.setHeader("Content-Length", length)
    if etag:
        request_of.setETag(etag)
    request_of.setHeader("Cache-Control", "no-store")
    request_of.addCookie("a", "1")
    request_of.addCookie("b", "2")
    request_of.write(b"{}")
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
