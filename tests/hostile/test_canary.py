"""A key sent in the wrong place never appears in logs or responses."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest

from ..web.conftest import Connection, Server

Places = dict[str, dict[str, Any]]


def rpc(method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def raw(key: str) -> dict[str, str]:
    """Return malformed or misdirected requests that contain a key."""
    return {
        "method": f"{key} / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "target": f"GET {key} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "version": f"GET / {key}\r\nHost: localhost\r\n\r\n",
        "credentials of the target": f"GET http://{key}@localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "Host": f"GET / HTTP/1.1\r\nHost: {key}\r\n\r\n",
        "header without colon": f"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization {key}\r\n\r\n",
        "header with a space": f"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization : {key}\r\n\r\n",
        "length": f"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {key}\r\n\r\n",
        "coding": f"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: {key}\r\n\r\n",
        "chunk": f"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{key}\r\n",
        "Origin": f"GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: https://{key}\r\n\r\n",
        "path": f"GET /{key} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "path, encoded": f"GET /{''.join(f'%{ord(each):x}' for each in key)} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "probe": f"GET /.well-known/{key} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "two keys": f"GET /api/open/mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: {key}, x{key}\r\n\r\n",
        "another scheme": f"GET /api/open/mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {key}\r\n\r\n",
    }


def keyed(key: str) -> Places:
    """Return authenticated requests that contain the key a second time."""
    search = "/api/open/v1/search"
    cursor = urlsafe_b64encode(json.dumps([key, 1.0, "a"]).encode()).decode().rstrip("=")
    return {
        "query": {"method": "GET", "path": f"{search}?{key}"},
        "keywords": {"method": "GET", "path": f"{search}?keywords={key}"},
        "id": {"method": "GET", "path": f"/api/open/v1/entries/{key}"},
        "cursor": {"method": "GET", "path": f"{search}?keywords=a&cursor={cursor}"},
        "session": {"body": rpc("ping"), "headers": {"Mcp-Session-Id": key}},
        "protocol version": {"body": rpc("ping"), "headers": {"MCP-Protocol-Version": key}},
        "media type": {"body": rpc("ping"), "headers": {"Content-Type": key}},
        "body that is not JSON": {"body": f'{{"{key}'.encode()},
        "member twice": {"body": f'{{"{key}": 1, "{key}": 2}}'.encode()},
        "RPC method": {"body": rpc(key)},
        "tool": {"body": rpc("tools/call", name=key)},
        "argument": {"body": rpc("tools/call", name="search_mcp", arguments={"keywords": "a", key: key})},
        "mcp_id": {"body": rpc("tools/call", name="get_mcp_detail", arguments={"mcp_id": key})},
        "batch": {"body": b"[" + rpc(key) + b"]"},
        "claimed version": {"body": rpc("ping", _meta={"io.modelcontextprotocol/protocolVersion": key})},
    }


def test_a_key_in_malformed_requests(server: Server, log: list[str], subtests: pytest.Subtests) -> None:
    for place, request in raw(server.key).items():
        log.clear()
        connection = Connection(server.site)
        connection.send(request.encode())
        response = connection.received()
        connection.close()
        with subtests.test(place):
            assert server.key.encode() not in response
            assert not any(server.key in line for line in log)


def test_a_key_in_requests(server: Server, log: list[str], unlimited: str, subtests: pytest.Subtests) -> None:
    for place, request in keyed(unlimited).items():
        log.clear()
        connection = server.open(**{"method": "POST", "path": "/api/open/mcp", "key": unlimited, **request})
        response = connection.received()
        connection.close()
        with subtests.test(place):
            assert unlimited.encode() not in response
            assert not any(unlimited in line for line in log)
