"""Requests as bytes, built before the measurement starts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from urllib.parse import quote_plus

from attrs import frozen

REST_PATH = "/api/open/v1/search"
MCP_PATH = "/api/open/mcp"

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}
"""The `_meta` of a stateless request."""


@frozen
class Credentials:
    """The API key and the session of a request; empty if the server needs none."""

    key: str = ""
    session: str = ""


def rest_requests(path: str, queries: Sequence[str], credentials: Iterator[Credentials]) -> list[bytes]:
    """Return a GET request for each query."""
    return [
        _request("GET", f"{path}?keywords={quote_plus(query)}", each, {}, b"")
        for query, each in zip(queries, credentials, strict=False)
    ]


def tool_calls(
    path: str, queries: Sequence[str], credentials: Iterator[Credentials], *, modern: bool = False
) -> list[bytes]:
    """Return a `tools/call` of search_mcp for each query, of MCP 2026-07-28 if `modern`, else of 2025-06-18."""
    requests = []
    for number, (query, each) in enumerate(zip(queries, credentials, strict=False), 1):
        params: dict[str, object] = {"name": "search_mcp", "arguments": {"keywords": query}}
        headers = {"MCP-Protocol-Version": "2025-06-18"}
        if modern:
            params["_meta"] = MODERN
            headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "search_mcp"}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        body = json.dumps(message, separators=(",", ":")).encode()
        accept = "application/json, text/event-stream"
        headers |= {"Content-Type": "application/json", "Accept": accept}
        requests.append(_request("POST", path, each, headers, body))
    return requests


def _request(method: str, target: str, credentials: Credentials, headers: dict[str, str], body: bytes) -> bytes:
    fields = {"Host": "127.0.0.1:80", "Accept": "*/*", **headers}
    if credentials.key:
        fields["Authorization"] = f"Bearer {credentials.key}"
    if credentials.session:
        fields["Mcp-Session-Id"] = credentials.session
    if body:
        fields["Content-Length"] = str(len(body))
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return "\r\n".join(lines).encode() + body
