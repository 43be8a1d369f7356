"""Requests that are read by the compiled module: llhttp reads them, with the same result."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from directory_server.compiled import compiled

heads = compiled("http._heads")

pytestmark = pytest.mark.skipif(not heads, reason="there is no compiled module")

SEARCH = b"GET /a/b?c=d+%20 HTTP/1.1\r\nHost: a:80\r\nX-Y: 1\r\nx-y: 2, 3\r\n\r\n"
CALL = b"POST /mcp HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer k\r\nContent-Length: 4\r\n\r\n{\r\n}"

PARTS = [
    *b"GET POST HEAD / /a?b=c /a#b /\xc3\xa9 * http://a/b HTTP/1.1 HTTP/1.0 HTTP/2".split(),
    *b"Host Content-Length X-A: 0 1 4 +1 00005".split(),
    *(b" ", b"  ", b"\t", b"\r", b"\n", b"\r\n", b"\r\n ", b"\0", b"\x7f", b"\xff", b":", b": ", b"", b"99999", b"{}"),
    b"Host: a\r\n",
    b"Host: a b\r\n",
    b"Connection: close\r\n",
    b"Connection: keep-alive\r\n",
    b"Upgrade: h2c\r\n",
    b"Expect: 100-continue\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Length: 4\r\n",
    SEARCH,
    CALL,
]


@st.composite
def changed_requests(draw: st.DrawFn) -> bytes:
    """Return a request in which parts were replaced, or a mix of parts."""
    data = draw(st.sampled_from([SEARCH, CALL, b""]))
    for _ in range(draw(st.integers(0, 3))):
        begin = draw(st.integers(0, len(data)))
        end = draw(st.integers(begin, min(begin + 12, len(data))))
        data = data[:begin] + draw(st.sampled_from(PARTS)) + data[end:]
    return data


def parsed(
    pieces: list[bytes], module: ModuleType | None, patch: pytest.MonkeyPatch
) -> tuple[list[dict[str, Any]], str, str]:
    """Return the requests in `pieces`, the phase after them, and the error, read with `module`."""
    from attrs import asdict

    from directory_server.http import _parser

    patch.setattr(_parser, "_compiled", module)
    parser = _parser.Parser(lambda: 0.0)
    answered: list[Any] = []
    for piece in pieces:
        parser.feed(piece)
        while parser.messages:
            answered.append(parser.messages.popleft())
            parser.parse()
    return list(map(asdict, answered)), parser.phase.name, str(parser.error and parser.error.response)


@settings(max_examples=1_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(changed_requests(), min_size=1, max_size=3))
def test_requests_are_the_same(monkeypatch: pytest.MonkeyPatch, pieces: list[bytes]) -> None:
    assert parsed(pieces, heads, monkeypatch) == parsed(pieces, None, monkeypatch)


def test_usual_requests_are_read() -> None:
    assert heads is not None
    fields = {b"host": [b"a:80"], b"x-y": [b"1", b"2, 3"]}
    assert heads.read(SEARCH) == (b"GET", b"/a/b?c=d+%20", fields, b"")
    kept = SEARCH.replace(b"X-Y: 1", b"Connection: keep-alive")
    assert heads.read(kept) == (
        b"GET",
        b"/a/b?c=d+%20",
        {b"host": [b"a:80"], b"connection": [b"keep-alive"], b"x-y": [b"2, 3"]},
        b"",
    )
    fields = {b"host": [b"a"], b"authorization": [b"Bearer k"], b"content-length": [b"4"]}
    assert heads.read(CALL) == (b"POST", b"/mcp", fields, b"{\r\n}")


@pytest.mark.parametrize("end", range(len(CALL)))
def test_incomplete_requests_are_not_read(end: int) -> None:
    assert heads is not None
    assert heads.read(CALL[:end]) is None


@pytest.mark.parametrize(
    "field",
    [
        b"Connection: close",
        b"Connection: keep-alive, close",
        b"Connection: keep-alive\r\nConnection: close",
        b"Expect: 100-continue",
        b"Upgrade: h2c",
        b"Proxy-Connection: close",
        b"Transfer-Encoding: chunked",
        b"Content-Length: 0\r\nContent-Length: 0",
        b"Content-Length: 00000",
        b"Content-Length: +0",
        b"No-Space:1",
        b"Spaces:  1",
        b"Space-After: 1 ",
        b"Empty: ",
        b"Folded: 1\r\n 2",
        b"High: \xe9",
        b"N" * 65 + b": 1",
        b"V: " + b"v" * 4096,
        b"\r\n".join([b"F: 1"] * 32),
    ],
)
def test_unusual_fields_are_not_read(field: bytes) -> None:
    assert heads is not None
    assert heads.read(b"GET / HTTP/1.1\r\nHost: a\r\n" + field + b"\r\n\r\n") is None


def test_only_bytes_are_read() -> None:
    assert heads is not None
    with pytest.raises(TypeError):
        heads.read("GET / HTTP/1.1\r\n\r\n")
