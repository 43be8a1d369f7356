"""Fuzzing: responses to random bytes are complete, errors are JSON, and there is no server error."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote_from_bytes

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ..web.conftest import Connection, Server
from ._probe import Response, parse_responses
from .test_table import is_closed

many = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

SOME = st.binary(max_size=40)
"""Arbitrary bytes."""

# Without HEAD: its responses have a Content-Length and no body.
TOKENS = st.sampled_from([b"GET", b"POST", b"OPTIONS", b"DELETE", b"PUT", b"TRACE", b"get", b"X"])
TARGETS = st.sampled_from(
    [b"/", b"*", b"/healthz", b"/api/open/mcp", b"/api/open/v1/search?keywords=a", b"http://localhost/healthz", b"//"]
)
VERSIONS = st.sampled_from([b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2.0", b"HTTP/0.9", b"HTTP/1.1 ", b""])
ENDS = st.sampled_from([b"\r\n", b"\r\n", b"\r\n", b"\r\n", b"\n", b"\r", b"", b"\r\n\r\n"])
NAMES = st.sampled_from(
    [
        *(b"Host", b"Content-Length", b"Transfer-Encoding", b"Connection", b"Expect", b"Upgrade", b"Authorization"),
        *(b"Content-Type", b"Origin", b"Mcp-Session-Id", b"MCP-Protocol-Version", b"Last-Event-ID", b" X", b"X "),
    ]
)
VALUES = st.sampled_from(
    [
        *(b"localhost", b"0", b"1", b"5", b"99999999", b"chunked", b"close", b"keep-alive", b"100-continue"),
        *(b"h2c", b"", b"a, b"),
    ]
)
SIZES = st.sampled_from([b"0", b"1", b"5", b"A", b"ffff", b"-1", b"0x1", b"1;a=b", b"1;\n", b" 1", b"1 ", b""])


def lines() -> st.SearchStrategy[bytes]:
    """Return valid, nearly valid and invalid request lines."""
    return st.tuples(
        TOKENS | SOME, st.sampled_from([b" ", b" ", b" ", b"  ", b"\t", b""]), TARGETS | SOME, VERSIONS | SOME
    ).map(lambda parts: parts[0] + parts[1] + parts[2] + b" " + parts[3])


def headers() -> st.SearchStrategy[bytes]:
    colons = st.sampled_from([b": ", b": ", b":", b" : ", b""])
    return st.tuples(NAMES | SOME, colons, VALUES | SOME, ENDS).map(b"".join)


def chunks() -> st.SearchStrategy[bytes]:
    return st.lists(st.tuples(SIZES | SOME, ENDS, SOME, ENDS).map(b"".join), max_size=4).map(b"".join)


def exchange_bytes(server: Server, *pieces: bytes) -> list[Response]:
    """Send pieces of bytes, let the server time out, and return its responses."""
    connection = Connection(server.site)
    try:
        for piece in pieces:
            connection.send(piece)
        server.clock.advance(100)
        server.clock.advance(100)
        found = parse_responses(connection.received())
        assert is_closed(connection)
    finally:
        connection.close()
    for response in found:
        assert response.status < 500 or response.status in (501, 505), response
        if response.status >= 400:
            assert response.headers["content-type"] == "application/json"
            assert response.json["error"]
    return found


@many
@given(st.lists(SOME, max_size=8))
def test_any_bytes(server: Server, pieces: list[bytes]) -> None:
    exchange_bytes(server, *pieces)


@many
@given(lines(), ENDS, st.lists(SOME, max_size=3))
def test_request_lines(server: Server, line: bytes, end: bytes, rest: list[bytes]) -> None:
    exchange_bytes(server, line + end, b"Host: localhost\r\n\r\n", *rest)


@many
@given(st.lists(headers(), max_size=6), SOME)
def test_headers(server: Server, fields: list[bytes], rest: bytes) -> None:
    exchange_bytes(server, b"POST /api/open/mcp HTTP/1.1\r\nHost: localhost\r\n", *fields, b"\r\n", rest)


@many
@given(chunks(), ENDS)
def test_chunks(server: Server, body: bytes, end: bytes) -> None:
    exchange_bytes(
        server, b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", body, b"0\r\n", end
    )


@many
@given(lines(), st.lists(headers(), max_size=6), chunks(), st.data())
def test_the_split_of_the_bytes_does_not_matter(
    server: Server, line: bytes, fields: list[bytes], body: bytes, data: st.DataObject
) -> None:
    raw = line + b"\r\nHost: localhost\r\n" + b"".join(fields) + b"\r\n" + body
    cut = data.draw(st.integers(0, len(raw)))
    statuses = [
        [response.status for response in exchange_bytes(server, *pieces)] for pieces in ((raw,), (raw[:cut], raw[cut:]))
    ]
    assert statuses[0] == statuses[1]


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
VALUE = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
META = st.fixed_dictionaries(
    {
        "io.modelcontextprotocol/protocolVersion": st.just("2026-07-28") | VALUE,
        "io.modelcontextprotocol/clientCapabilities": st.just({}) | VALUE,
    }
)
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["search_mcp", "get_mcp_detail"]) | VALUE,
        "arguments": st.fixed_dictionaries({}, optional={"keywords": VALUE, "limit": VALUE, "mcp_id": VALUE}) | VALUE,
        "protocolVersion": VALUE,
        "cursor": VALUE,
        "_meta": META | VALUE,
    },
)
METHODS = ["initialize", "ping", "tools/list", "tools/call", "server/discover", "notifications/initialized"]
MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | VALUE,
        "id": st.integers() | VALUE,
        "method": st.sampled_from(METHODS) | VALUE,
        "params": PARAMS | VALUE,
        "result": VALUE,
        "error": VALUE,
    },
)
VERSION = st.none() | st.sampled_from(
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "2030-01-01", ""]
)


def rpc(server: Server, key: str, body: bytes, version: str | None) -> None:
    """Post a body, and assert that the response is JSON-RPC, or empty if none is due."""
    named = {} if version is None else {"MCP-Protocol-Version": version}
    response = server.post(body, key=key, headers=named)
    assert response.status in (200, 202, 400, 404), response
    if response.status == 202:
        assert response.body == b""
        return
    for message in response.json if isinstance(response.json, list) else [response.json]:
        assert message["jsonrpc"] == "2.0"
        assert ("result" in message) != ("error" in message)


@many
@given(MESSAGE | st.lists(MESSAGE, max_size=3) | VALUE, VERSION)
def test_messages(server: Server, unlimited: str, message: Any, version: str | None) -> None:
    rpc(server, unlimited, json.dumps(message).encode(), version)


@many
@given(MESSAGE, st.data())
def test_messages_with_a_piece_replaced(server: Server, unlimited: str, message: Any, data: st.DataObject) -> None:
    raw = json.dumps(message).encode()
    begin = data.draw(st.integers(0, len(raw)))
    end = data.draw(st.integers(begin, len(raw)))
    rpc(server, unlimited, raw[:begin] + data.draw(SOME) + raw[end:] or b" ", None)


@many
@given(SOME | st.text(max_size=30).map(str.encode))
def test_paths(server: Server, unlimited: str, path: bytes) -> None:
    for below in ("/", "/api/open/v1/entries/", "/.well-known/"):
        response = server.get(below + quote_from_bytes(path), key=unlimited)
        assert response.status in (200, 400, 404), response
        # The empty path is the search page.
        assert response.body.startswith(b"<!doctype html>") if below == "/" and not path else response.json
