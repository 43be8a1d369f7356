"""The response of a request: header fields, cookies and length."""

from __future__ import annotations

from typing import Any

import pytest

DATE = b"Date: now"
ID = b"X-Request-Id: id-1"


class Channel:
    """Records what a request writes."""

    closing = False

    def __init__(self) -> None:
        self.sent = b""
        self.site = self

    def write(self, data: bytes) -> None:
        self.sent += data

    def finished(self, request: object) -> None: ...

    def log(self, request: object) -> None: ...

    @property
    def lines(self) -> list[bytes]:
        """The lines of the head."""
        return self.sent.partition(b"\r\n\r\n")[0].split(b"\r\n")

    @property
    def body(self) -> bytes:
        return self.sent.partition(b"\r\n\r\n")[2]


@pytest.fixture
def channel() -> Channel:
    return Channel()


def request_of(channel: Channel, method: bytes = b"GET", **headers: list[bytes]) -> Any:
    from directory_server.http._parser import Message
    from directory_server.http._request import Request

    received = {name.encode(): values for name, values in headers.items()}
    message = Message(method, b"/path?a=b", b"HTTP/1.1", received)
    return Request(channel, message, "id-1", DATE)  # type: ignore[arg-type]


@pytest.fixture
def http_request(channel: Channel) -> Any:
    return request_of(channel)


def test_line_breaks_in_values_are_removed(channel: Channel, http_request: Any) -> None:
    http_request.setHeader("Link", "a\r\nSet-Cookie: stolen\nb")
    http_request.finish()
    assert b"Link: a Set-Cookie: stolen b" in channel.lines


@pytest.mark.parametrize("length", [None, "2"])
def test_a_body_has_a_length_and_cookies_are_sent_in_order(
    channel: Channel, http_request: Any, length: str | None
) -> None:
    if length:
        http_request.setHeader("Content-Length", length)
    http_request.setHeader("Cache-Control", "no-store")
    http_request.add_cookie("a", "1", max_age=5, secure=True)
    http_request.add_cookie("b", "2", max_age=0, secure=False)
    http_request.write(b"{")
    http_request.write(b"}")
    assert channel.sent == b""
    http_request.finish()
    assert sorted(channel.lines[1:]) == [
        b"Cache-Control: no-store",
        b"Content-Length: 2",
        DATE,
        b"Set-Cookie: a=1; Path=/; Max-Age=5; Secure; HttpOnly; SameSite=lax",
        b"Set-Cookie: b=2; Path=/; Max-Age=0; HttpOnly; SameSite=lax",
        ID,
    ]
    assert channel.lines[-2:] == sorted(line for line in channel.lines if line.startswith(b"Set-Cookie"))
    assert channel.body == b"{}"
    assert http_request.sentLength == 2


@pytest.mark.parametrize("value", ["a\r\nb", "a; Domain=example.org", "\x00"])
def test_a_cookie_with_a_separator_is_not_sent(http_request: Any, value: str) -> None:
    with pytest.raises(ValueError, match="cookie"):
        http_request.add_cookie("a", value, max_age=5, secure=True)


@pytest.mark.parametrize(
    ("method", "code", "body", "length"),
    [
        (b"GET", 200, b"{}", b"2"),
        (b"GET", 200, b"", b"0"),
        (b"GET", 204, b"", None),
        (b"GET", 304, b"", None),
        (b"HEAD", 200, b"{}", b"2"),
        # The length of the response to GET is not known.
        (b"HEAD", 200, b"", None),
    ],
)
def test_the_length_is_that_of_the_response_to_get(
    channel: Channel, method: bytes, code: int, body: bytes, length: bytes | None
) -> None:
    http_request = request_of(channel, method)
    http_request.setResponseCode(code)
    http_request.write(body)
    http_request.finish()
    assert channel.body == (b"" if method == b"HEAD" else body)
    assert http_request.sentLength == len(channel.body)
    lengths = [line for line in channel.lines if line.startswith(b"Content-Length")]
    assert lengths == ([] if length is None else [b"Content-Length: " + length])
