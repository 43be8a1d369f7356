"""The MCP door as clients of the stateless era use it."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from .conftest import Answer, Server

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def ask(
    server: Server, method: str, params: dict[str, Any] | None = None, *, meta: Any = META, **headers: str | None
) -> Answer:
    """Send a request as such clients do; `headers` replace those that they send, None leaves one out."""
    body = {"jsonrpc": "2.0", "id": "m1", "method": method, "params": {**(params or {}), "_meta": meta}}
    sent: dict[str, str | None] = {"MCP-Protocol-Version": VERSION, "Mcp-Method": method}
    if params and "name" in params:
        sent["Mcp-Name"] = params["name"]
    sent.update({name.replace("_", "-"): value for name, value in headers.items()})
    return server.post(body, headers={name: value for name, value in sent.items() if value is not None})


def test_discover(server: Server) -> None:
    answer = ask(server, "server/discover")
    assert answer.status == 200
    assert answer.headers["Mcp-Session-Id"] is None
    result = answer.json["result"]
    assert (result["resultType"], result["supportedVersions"]) == ("complete", [VERSION])
    assert (result["ttlMs"], result["cacheScope"]) == (300_000, "public")
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "directory-server"


def test_the_tools(server: Server) -> None:
    listed = ask(server, "tools/list").json["result"]
    assert [tool["name"] for tool in listed["tools"]] == ["search_mcp", "get_mcp_detail"]
    assert (listed["resultType"], listed["cacheScope"]) == ("complete", "public")
    called = ask(server, "tools/call", {"name": "search_mcp", "arguments": {"keywords": "postgres"}})
    assert called.json["id"] == "m1"
    assert called.json["result"]["resultType"] == "complete"
    assert called.json["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "directory-server"
    assert called.json["result"]["structuredContent"]["count"] == 1
    assert called.headers["X-RateLimit-Remaining"] == "19"


def test_a_foreign_cursor_is_400(server: Server) -> None:
    answer = ask(server, "tools/list", {"cursor": "x"})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32602)


def test_bad_arguments_are_a_result(server: Server) -> None:
    result = ask(server, "tools/call", {"name": "search_mcp", "arguments": {"limit": 1}}).json["result"]
    assert (result["isError"], result["resultType"]) == (True, "complete")


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
def test_meta_comes_first(server: Server, meta: Any) -> None:
    answer = ask(server, "no/such", meta=meta, MCP_Protocol_Version="1999-01-01")
    assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (400, -32602, "m1")


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
def test_then_the_headers_that_must_say_what_the_body_says(server: Server, headers: dict[str, str | None]) -> None:
    answer = ask(server, "tools/call", {"name": "search_mcp", "arguments": {"keywords": "a"}}, **headers)
    assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (400, -32020, "m1")


def test_a_header_given_twice_is_a_mismatch(server: Server) -> None:
    answer = ask(server, "tools/list", Mcp_Method="tools/list\r\nMcp-Method: tools/list")
    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


def test_headers_may_be_padded_or_encoded(server: Server) -> None:
    encoded = f"=?base64?{b64encode(b'search_mcp').decode()}?="
    for name in ("  search_mcp ", encoded):
        params = {"name": "search_mcp", "arguments": {"keywords": "a"}}
        assert ask(server, "tools/call", params, Mcp_Name=name).status == 200


def test_then_the_version(server: Server) -> None:
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "2027-01-01"}
    error = ask(server, "no/such", meta=meta, MCP_Protocol_Version="2027-01-01")
    assert error.status == 400
    assert error.json["error"]["code"] == -32022
    assert error.json["error"]["data"] == {"supported": [VERSION], "requested": "2027-01-01"}


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "no/such"])
def test_then_the_method(server: Server, method: str) -> None:
    answer = ask(server, method)
    assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (404, -32601, "m1")


def test_an_unknown_tool_is_400(server: Server) -> None:
    answer = ask(server, "tools/call", {"name": "rm", "arguments": {}})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32602)


def test_a_notification_is_202(server: Server) -> None:
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"_meta": META}}
    assert server.post(message, headers={"MCP-Protocol-Version": VERSION}).status == 202


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_only_post(server: Server, method: str) -> None:
    answer = server.ask(method, "/api/open/mcp", headers={"MCP-Protocol-Version": VERSION})
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")


def test_over_quota_is_a_result(server: Server) -> None:
    _, key = server.new_key(limit=1)
    params = {"name": "search_mcp", "arguments": {"keywords": "a"}, "_meta": META}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/call", "Mcp-Name": "search_mcp"}
    server.post(message, headers=headers, key=key)
    answer = server.post(message, headers=headers, key=key)
    assert answer.status == 200
    assert json.loads(answer.json["result"]["content"][0]["text"])["error"] == "rate_limited"
