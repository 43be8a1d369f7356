"""The MCP endpoint with the stateless protocol version."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from .conftest import META, Response, Server

VERSION = "2026-07-28"


def send(
    server: Server, method: str, params: dict[str, Any] | None = None, *, meta: Any = META, **headers: str | None
) -> Response:
    """Send a stateless request. `headers` replace its headers; None omits one."""
    body = {"jsonrpc": "2.0", "id": "m1", "method": method, "params": {**(params or {}), "_meta": meta}}
    sent: dict[str, str | None] = {"MCP-Protocol-Version": VERSION, "Mcp-Method": method}
    if params and "name" in params:
        sent["Mcp-Name"] = params["name"]
    sent.update({name.replace("_", "-"): value for name, value in headers.items()})
    return server.post(body, headers={name: value for name, value in sent.items() if value is not None})


def test_discover(server: Server) -> None:
    response = send(server, "server/discover")
    assert response.status == 200
    assert response.headers["Mcp-Session-Id"] is None
    result = response.json["result"]
    assert (result["resultType"], result["supportedVersions"]) == ("complete", [VERSION])
    assert (result["ttlMs"], result["cacheScope"]) == (300_000, "public")
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "directory-server"


def test_list_and_call_tools(server: Server) -> None:
    listed = send(server, "tools/list").json["result"]
    assert [tool["name"] for tool in listed["tools"]] == ["search_mcp", "get_mcp_detail"]
    assert (listed["resultType"], listed["cacheScope"]) == ("complete", "public")
    called = send(server, "tools/call", {"name": "search_mcp", "arguments": {"keywords": "postgres"}})
    assert called.json["id"] == "m1"
    assert called.json["result"]["resultType"] == "complete"
    assert called.json["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "directory-server"
    assert called.json["result"]["structuredContent"]["count"] == 1
    assert called.headers["X-RateLimit-Remaining"] == "19"


def test_an_unknown_cursor_is_400(server: Server) -> None:
    response = send(server, "tools/list", {"cursor": "x"})
    assert (response.status, response.json["error"]["code"]) == (400, -32602)


@pytest.mark.parametrize(
    "meta",
    [
        None,
        [],
        {},
        {"io.modelcontextprotocol/protocolVersion": VERSION},
        {"io.modelcontextprotocol/clientCapabilities": {}},
        {**META, "io.modelcontextprotocol/protocolVersion": 1},
        {**META, "io.modelcontextprotocol/clientCapabilities": []},
    ],
)
def test_meta_is_checked_first(server: Server, meta: Any) -> None:
    response = send(server, "no/such", meta=meta, MCP_Protocol_Version="1999-01-01")
    assert (response.status, response.json["error"]["code"], response.json["id"]) == (400, -32602, "m1")


@pytest.mark.parametrize(
    "headers",
    [
        {"MCP_Protocol_Version": None},
        {"MCP_Protocol_Version": "2027-01-01"},
        {"Mcp_Method": None},
        {"Mcp_Method": "tools/list"},
        {"Mcp_Name": None},
        {"Mcp_Name": "get_mcp_detail"},
        {"Mcp_Name": "=?base64?!!!?="},
    ],
)
def test_headers_must_match_the_body(server: Server, headers: dict[str, str | None]) -> None:
    response = send(server, "tools/call", {"name": "search_mcp", "arguments": {"keywords": "a"}}, **headers)
    assert (response.status, response.json["error"]["code"], response.json["id"]) == (400, -32020, "m1")


def test_a_repeated_header_is_a_mismatch(server: Server) -> None:
    response = send(server, "tools/list", Mcp_Method="tools/list\r\nMcp-Method: tools/list")
    assert (response.status, response.json["error"]["code"]) == (400, -32020)


def test_headers_may_be_padded_or_encoded(server: Server) -> None:
    encoded = f"=?base64?{b64encode(b'search_mcp').decode()}?="
    for name in ("  search_mcp ", encoded):
        params = {"name": "search_mcp", "arguments": {"keywords": "a"}}
        assert send(server, "tools/call", params, Mcp_Name=name).status == 200


def test_the_version_is_checked_after_the_headers(server: Server) -> None:
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "2027-01-01"}
    error = send(server, "no/such", meta=meta, MCP_Protocol_Version="2027-01-01")
    assert error.status == 400
    assert error.json["error"]["code"] == -32022
    assert error.json["error"]["data"] == {"supported": [VERSION], "requested": "2027-01-01"}


def test_an_error_without_meta_has_all_supported_versions(server: Server) -> None:
    body = {"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": {}}
    response = server.post(body, headers={"MCP-Protocol-Version": "1999-01-01"})
    assert (response.status, response.json["id"]) == (400, 3)
    assert response.json["error"] == {
        "code": -32022,
        "message": "Protocol version '1999-01-01' is not supported; supported: 2024-11-05, 2025-03-26, 2025-06-18, "
        "2025-11-25, 2026-07-28.",
        "data": {
            "supported": ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"],
            "requested": "1999-01-01",
        },
    }
    # With the stateless version in the header, `_meta` is missing.
    response = server.post(body, headers={"MCP-Protocol-Version": VERSION})
    assert (response.status, response.json["error"]["code"]) == (400, -32602)


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "no/such"])
def test_the_method_is_checked_last(server: Server, method: str) -> None:
    response = send(server, method)
    assert (response.status, response.json["error"]["code"], response.json["id"]) == (404, -32601, "m1")


def test_an_unknown_tool_is_400(server: Server) -> None:
    response = send(server, "tools/call", {"name": "rm", "arguments": {}})
    assert (response.status, response.json["error"]["code"]) == (400, -32602)


def test_a_notification_is_202(server: Server) -> None:
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"_meta": META}}
    assert server.post(message, headers={"MCP-Protocol-Version": VERSION}).status == 202


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_other_methods_than_post_are_405(server: Server, method: str) -> None:
    response = server.request(method, "/api/open/mcp", headers={"MCP-Protocol-Version": VERSION})
    assert (response.status, response.headers["Allow"]) == (405, "POST")
