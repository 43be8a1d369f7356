"""The bytes of requests, made before anything is measured."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from urllib.parse import quote_plus

from attrs import frozen

from directory_server.domain.entries import Entry

SEARCH = "/api/open/v1/search"

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}

REPEATED = 20
"""Different queries where they repeat."""


@frozen
class Credentials:
    """What one request identifies itself by; empty where a server asks for none."""

    key: str = ""
    session: str = ""


def queries(entries: Sequence[Entry], count: int, *, distinct: bool) -> list[str]:
    """Return queries of two words each that occur side by side in what entries say of themselves."""
    random_ = random.Random(1)
    pairs = sorted(
        {
            f"{first} {second}"
            for entry in entries
            for words in [[word for word in f"{entry.title} {entry.brief}".lower().split() if word.isalpha()]]
            for first in words
            for second in words
            if first < second
        }
    )
    random_.shuffle(pairs)
    if distinct and len(pairs) < count:
        # A small catalogue has fewer; a number makes another query of the same words.
        pairs = [f"{pair} {number}" for number in range(count // len(pairs) + 1) for pair in pairs]
    return pairs[:count] if distinct else list(islice(cycle(pairs[:REPEATED]), count))


def rest(path: str, asked: Sequence[str], given: Iterator[Credentials]) -> list[bytes]:
    """Return a GET for each query."""
    return [
        _request("GET", f"{path}?keywords={quote_plus(each)}", who, {}, b"")
        for each, who in zip(asked, given, strict=False)
    ]


def calls(path: str, asked: Sequence[str], given: Iterator[Credentials], *, modern: bool = False) -> list[bytes]:
    """Return a `tools/call` of search_mcp for each query, in either era of the protocol."""
    made = []
    for number, (each, who) in enumerate(zip(asked, given, strict=False), 1):
        params: dict[str, object] = {"name": "search_mcp", "arguments": {"keywords": each}}
        headers = {"MCP-Protocol-Version": "2025-06-18"}
        if modern:
            params["_meta"] = MODERN
            headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "search_mcp"}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        made.append(post(path, message, who, headers))
    return made


def post(path: str, message: object, who: Credentials, headers: dict[str, str]) -> bytes:
    """Return a POST of one JSON-RPC message."""
    body = json.dumps(message, separators=(",", ":")).encode()
    accepted = "application/json, text/event-stream"
    return _request("POST", path, who, {"Content-Type": "application/json", "Accept": accepted, **headers}, body)


def _request(method: str, target: str, who: Credentials, headers: dict[str, str], body: bytes) -> bytes:
    fields = {"Host": "127.0.0.1:80", "Accept": "*/*", **headers}
    if who.key:
        fields["Authorization"] = f"Bearer {who.key}"
    if who.session:
        fields["Mcp-Session-Id"] = who.session
    if body:
        fields["Content-Length"] = str(len(body))
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return "\r\n".join(lines).encode() + body
