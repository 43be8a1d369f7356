"""The search for tools: the tool of MCP, the field and the parameter of REST, and the marks on pages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openapi_schema_validator import OAS31Validator

from directory_server.domain.entries import PUBLISHER, Entry

from .conftest import Server

TOOL = {
    "name": "create_invoice",
    "description": "Issues an invoice <b>now</b>.",
    "inputSchema": {"properties": {"customer": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
}

BOOKS = Entry(
    {
        "name": "io.example/books",
        "version": "1",
        "description": "Bookkeeping.",
        "_meta": {PUBLISHER: {"tools": [TOOL, {"name": "tax_report"}]}},
    }
)


OFFERING = pytest.mark.parametrize("server", [{"mcp.search_tools": True}], indirect=True)
"""A server that offers the search for tools."""


def rpc(server: Server, method: str, **params: Any) -> Any:
    return server.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).json["result"]


def call(server: Server, **arguments: Any) -> Any:
    return rpc(server, "tools/call", name="search_tools", arguments=arguments)


def test_the_tool_is_not_offered_by_default(server: Server) -> None:
    assert [tool["name"] for tool in rpc(server, "tools/list")["tools"]] == ["search_mcp", "get_mcp_detail"]
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_tools", "arguments": {}}}
    assert server.post(call).json["error"]["message"] == (
        "params.name: unknown tool 'search_tools'; must be one of search_mcp, get_mcp_detail."
    )


@OFFERING
def test_tools_are_found_with_their_servers(server: Server) -> None:
    server.publish(BOOKS)
    result = call(server, keywords="invoice")
    assert result["structuredContent"] == {
        "success": True,
        "data": [
            {
                "mcp_id": BOOKS.mcp_id,
                "server": "io.example/books",
                "name": "create_invoice",
                "description": "Issues an invoice <b>now</b>.",
                "takes": "customer?: string",
                "hints": {"readOnlyHint": True},
            }
        ],
        "count": 1,
    }
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    (*_, tool) = rpc(server, "tools/list")["tools"]
    assert tool["name"] == "search_tools"
    schema = tool["outputSchema"]
    OAS31Validator(schema).validate(result["structuredContent"])
    assert call(server, keywords="quokka")["structuredContent"]["message"].startswith("No tool matches.")


@OFFERING
@pytest.mark.parametrize("arguments", [{}, {"keywords": " "}, {"keywords": "a", "limit": 0}, {"keywords": "a", "b": 1}])
def test_wrong_arguments_are_results(server: Server, arguments: Any) -> None:
    result = call(server, **arguments)
    assert result["isError"] is True
    assert json.loads(result["content"][0]["text"])["error"] == "bad_request"


def test_a_hit_of_search_mcp_has_its_tools(server: Server) -> None:
    server.publish(BOOKS)
    found = rpc(server, "tools/call", name="search_mcp", arguments={"keywords": "issue invoice"})
    (hit,) = found["structuredContent"]["data"]
    assert hit["matching_tools"] == [{"name": "create_invoice", "description": "Issues an invoice <b>now</b>."}]


@pytest.mark.parametrize("fields", ["name,matching_tools", "version,matching_tools"])
def test_rest_has_the_tools_as_a_field(server: Server, fields: str) -> None:
    server.publish(BOOKS)
    (hit,) = server.get(f"/api/open/v1/search?keywords=issue+invoice&fields={fields}").json["data"]
    assert hit["matching_tools"] == [{"name": "create_invoice", "description": "Issues an invoice <b>now</b>."}]
    (hit,) = server.get(f"/api/open/v1/search?keywords=bookkeeping&fields={fields}").json["data"]
    assert hit["matching_tools"] == []
    (hit,) = server.get("/api/open/v1/search?keywords=issue+invoice").json["data"]
    assert list(hit) == ["name", "brief", "website_url"]


def test_rest_searches_tools_only(server: Server) -> None:
    server.publish(BOOKS)
    assert server.get("/api/open/v1/search?keywords=invoice&match=tools").json["count"] == 1
    assert server.get("/api/open/v1/search?keywords=bookkeeping&match=tools").json["count"] == 0
    assert server.get("/api/open/v1/search?keywords=bookkeeping&match=entries").json["count"] == 1
    wrong = server.get("/api/open/v1/search?keywords=a&match=x")
    assert (wrong.status, wrong.json["message"]) == (400, "match: must be entries or tools, not 'x'.")


def test_a_page_shows_the_tools_as_text(server: Server) -> None:
    server.publish(BOOKS)
    page = server.get("/?q=issue+invoice", key=None).body.decode()
    assert "<code>create_invoice</code> <bdi>Issues an invoice &lt;b&gt;now&lt;/b&gt;.</bdi>" in page
    assert "create_invoice" not in server.get("/?q=bookkeeping", key=None).body.decode()
