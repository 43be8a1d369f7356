"""The REST API and the MCP endpoint on twisted.web, by Klein's resource."""

from __future__ import annotations

from typing import Any

import pytest
from treq.testing import StubTreq

from directory_server.web.mcp import McpEndpoint
from directory_server.web.rest import RestHandlers
from directory_server.web.routes import mount

from .conftest import Server
from .routes import handlers

SEARCH = {"keywords": "postgres"}


def ask(treq: StubTreq, method: str, path: str, key: str, **options: Any) -> tuple[int, Any, Any]:
    """Return status, headers and decoded body of a response."""
    headers = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}
    responses: list[Any] = []
    treq.request(method, f"http://localhost{path}", headers=headers, **options).addCallback(responses.append)  # type: ignore[attr-defined]
    treq.flush()
    (response,) = responses
    response.json().addCallback(responses.append)
    return response.code, response.headers, responses[1]


def test_rest_is_the_same_on_twisted_web(server: Server) -> None:
    treq = StubTreq(handlers(server, RestHandlers).app.resource())
    status, headers, body = ask(treq, "GET", "/api/open/v1/search?keywords=postgres", server.key)
    assert (status, body) == (200, server.get("/api/open/v1/search?keywords=postgres").json)
    assert headers.getRawHeaders("X-RateLimit-Remaining") == ["19"]
    status, _, body = ask(treq, "GET", "/api/open/v1/search?keywords=", "no-key")
    assert (status, body["error"]) == (401, "unauthorized")


@pytest.mark.parametrize("path", ["/api/open/v1/entries/%00", "/api/open/v1/search?limit=no"])
def test_errors_are_those_of_the_api(server: Server, path: str) -> None:
    treq = StubTreq(handlers(server, RestHandlers).app.resource())
    status, _, body = ask(treq, "GET", path, server.key)
    response = server.get(path)
    assert (status, body) == (response.status, response.json)


def test_mcp_is_the_same_in_one_tree(server: Server) -> None:
    treq = StubTreq(mount([handlers(server, RestHandlers).app, handlers(server, McpEndpoint).app]).resource())
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_mcp", "arguments": SEARCH}}
    status, _, body = ask(treq, "POST", "/api/open/mcp", server.key, json=message)
    assert status == 200
    assert body["result"]["structuredContent"]["data"][0]["name"] == "Postgres"
    status, _, body = ask(treq, "GET", "/api/open/mcp", server.key)
    assert status >= 400, "streams are not served"
