"""The MCP endpoint with stateful protocol versions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from directory_server.runtime.run_sync import run_sync
from directory_server.web.mcp._tools import NO_MATCH

from .conftest import META, POSTGRES_ID, Server, entry

ENDPOINT = "/api/open/mcp"
UNKNOWN = "00000000-0000-5000-8000-000000000000"


def request(method: str, params: Any = None, identity: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "method": method, **({} if params is None else {"params": params})}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_initialize_returns_a_supported_version(server: Server, version: str) -> None:
    response = server.post(request("initialize", {"protocolVersion": version, "capabilities": {}}))
    assert response.status == 200
    assert response.json["result"]["protocolVersion"] == version
    assert response.json["result"]["capabilities"] == {
        "tools": {"listChanged": False},
        "resources": {"listChanged": True},
    }
    assert response.headers["Mcp-Session-Id"]


@pytest.mark.parametrize("params", [None, {}, {"protocolVersion": "1999-01-01"}, {"protocolVersion": 7}])
def test_initialize_returns_the_newest_version_for_an_unknown_one(server: Server, params: Any) -> None:
    assert server.post(request("initialize", params)).json["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize(
    "header", ["2026-07-28", "2099-01-01", "2024-10-07", "2025-06-18", "", "x", "2026-07-28, 2025-11-25", "\xff"]
)
@pytest.mark.parametrize("params", [None, {"protocolVersion": "2025-06-18"}, {"protocolVersion": "x", "_meta": {}}])
def test_initialize_is_negotiated_whatever_the_header(server: Server, header: str, params: Any) -> None:
    response = server.post(request("initialize", params), headers={"MCP-Protocol-Version": header})
    assert response.status == 200
    wanted = (params or {}).get("protocolVersion")
    assert response.json["result"]["protocolVersion"] == ("2025-06-18" if wanted == "2025-06-18" else "2025-11-25")
    assert response.headers["Mcp-Session-Id"]


@pytest.mark.parametrize("version", ["2026-07-28", "2099-01-01"])
def test_an_initialize_request_of_the_stateless_protocol_is_not_negotiated(server: Server, version: str) -> None:
    params = {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": version}}
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": "initialize"}
    response = server.post(request("initialize", params), headers=headers)
    expected = (404, -32601) if version == "2026-07-28" else (400, -32022)
    assert (response.status, response.json["error"]["code"]) == expected


def test_a_session_is_valid_in_every_process_and_after_rotation(server: Server) -> None:
    session = str(server.post(request("initialize")).headers["Mcp-Session-Id"])
    assert session.isascii()
    assert session.isprintable()
    _, rotated = run_sync(server.keys.rotate(server.key_id, grace=0))
    assert server.post(request("ping"), key=rotated, headers={"Mcp-Session-Id": session}).json["result"] == {}


@pytest.mark.parametrize("session", ["", "x", "x.y", "é.y", "." * 300])
def test_a_broken_session_is_404(server: Server, session: str) -> None:
    response = server.post(request("ping", identity=9), headers={"Mcp-Session-Id": session})
    assert (response.status, response.json["id"]) == (404, 9)


def test_a_session_of_another_key_is_404(server: Server) -> None:
    session = str(server.post(request("initialize")).headers["Mcp-Session-Id"])
    _, other = server.new_key()
    for method in ("POST", "GET"):
        body = json.dumps(request("ping")).encode() if method == "POST" else b""
        response = server.request(method, ENDPOINT, key=other, headers={"Mcp-Session-Id": session}, body=body)
        assert response.status == 404


def test_tools_list_is_not_charged(server: Server) -> None:
    response = server.post(request("tools/list"))
    tools = {tool["name"]: tool for tool in response.json["result"]["tools"]}
    assert set(tools) == {"search_mcp", "get_mcp_detail"}
    for tool in tools.values():
        assert tool["annotations"]["readOnlyHint"] is True
        assert tool["annotations"]["idempotentHint"] is True
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object"
    assert tools["search_mcp"]["inputSchema"]["properties"]["limit"]["default"] == 50
    assert response.headers["X-RateLimit-Remaining"] == "20"


def test_search_returns_text_and_equal_structured_content(server: Server) -> None:
    result = server.call("search_mcp", {"keywords": "postgres", "limit": 50.0})
    assert result["isError"] is False
    assert result["structuredContent"] == json.loads(result["content"][0]["text"])
    assert result["structuredContent"] == {
        "success": True,
        "data": [
            {
                "mcp_id": POSTGRES_ID,
                "name": "Postgres",
                "brief": "Query a Postgres database.",
                "website_url": "https://github.com/example/postgres-mcp",
                "server_name": "io.github.example/postgres-mcp",
            }
        ],
        "count": 1,
        "match": "strong",
    }


def test_a_search_without_a_hit_says_so(server: Server) -> None:
    result = server.call("search_mcp", {"keywords": "zzzqqq xxyyzz"})
    content = {"success": True, "data": [], "count": 0, "match": "none", "message": NO_MATCH}
    assert result["isError"] is False
    assert result["structuredContent"] == json.loads(result["content"][0]["text"]) == content


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("search_mcp", {}, "arguments.keywords: is required"),
        ("search_mcp", {"keywords": ""}, "keywords: is required"),
        ("search_mcp", {"keywords": "a" * 4_097}, "at most 4,096"),
        ("search_mcp", {"keywords": 7}, "arguments.keywords: must be a string"),
        ("search_mcp", {"keywords": "a", "limit": 0}, "must be a whole number from 1 to 100, not 0"),
        ("search_mcp", {"keywords": "a", "limit": 1.5}, "arguments.limit: must be a whole number"),
        ("search_mcp", {"keywords": "a", "limit": True}, "arguments.limit: must be a whole number"),
        ("search_mcp", {"keywords": "a", "page": 2}, "'page'; allowed: keywords, limit"),
        ("get_mcp_detail", {}, "arguments.mcp_id: is required"),
        ("get_mcp_detail", {"mcp_id": "x"}, "must be a UUID"),
        ("get_mcp_detail", {"mcp_id": None}, "arguments.mcp_id: is required"),
    ],
)
def test_invalid_arguments_are_an_error_result(server: Server, tool: str, arguments: Any, message: str) -> None:
    result = server.call(tool, arguments)
    assert result["isError"] is True
    body = json.loads(result["content"][0]["text"])
    assert (body["success"], body["error"]) == (False, "bad_request")
    assert message in body["message"]
    assert server.post(request("ping")).headers["X-RateLimit-Remaining"] == "20"


@pytest.mark.parametrize("limit", [101, "101", 1e6])
def test_a_limit_above_the_maximum_is_reduced_and_the_result_says_so(server: Server, limit: Any) -> None:
    server.publish(*(entry(f"io.example/postgres-{number}", "Postgres.") for number in range(101)))
    result = server.call("search_mcp", {"keywords": "postgres", "limit": limit})
    content = result["structuredContent"]
    assert (result["isError"], content["count"]) == (False, 100)
    assert content["message"] == "limit: was reduced to 100, the maximum."
    assert content == json.loads(result["content"][0]["text"])
    nothing = server.call("search_mcp", {"keywords": "zzzqqq xxyyzz", "limit": limit})["structuredContent"]
    assert nothing["message"] == f"{NO_MATCH} limit: was reduced to 100, the maximum."
    # The next search for the same has a result of its own.
    assert "message" not in server.call("search_mcp", {"keywords": "postgres", "limit": 100})["structuredContent"]


@pytest.mark.parametrize("limit", [None, "1", " 1.0 ", 1.0])
def test_an_argument_may_be_null_or_a_number_in_a_string(server: Server, limit: Any) -> None:
    result = server.call("search_mcp", {"keywords": "postgres", "limit": limit, "cursor": None})
    assert (result["isError"], result["structuredContent"]["count"]) == (False, 1)


def test_an_exceeded_quota_is_an_error_result_with_retry_after(server: Server) -> None:
    _, key = server.new_key(limit=1)
    server.call("search_mcp", {"keywords": "a"}, key=key)
    server.clock.advance(600)
    message = request("tools/call", {"name": "search_mcp", "arguments": {"keywords": "a"}})
    response = server.post(message, key=key)
    assert response.status == 200
    assert response.json["result"]["isError"] is True
    body = json.loads(response.json["result"]["content"][0]["text"])
    assert (body["error"], body["retry_after"]) == ("rate_limited", 3000)
    assert "50 minutes" in body["message"]
    assert response.headers["Retry-After"] == "3000"


def test_null_parameters_equal_absent_ones(server: Server) -> None:
    assert server.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": None}).json["result"]["tools"]
    assert "keywords: is required" in server.call("search_mcp", None)["content"][0]["text"]


@pytest.mark.parametrize(
    ("body", "status", "code", "identity"),
    [
        (b"{", 400, -32700, None),
        (b"\xff", 400, -32700, None),
        (b"\xef\xbb\xbf\xef\xbb\xbf{}", 400, -32700, None),
        (b'{"a":1,"a":2}', 400, -32700, None),
        (b"NaN", 400, -32700, None),
        (b"[" * 100 + b"]" * 100, 400, -32700, None),
        (b"7", 400, -32600, None),
        (b"{}", 400, -32600, None),
        (b'{"jsonrpc":"1.0","id":3,"method":"ping"}', 400, -32600, 3),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', 400, -32600, None),
        (b'{"jsonrpc":"2.0","id":4,"method":7}', 400, -32600, 4),
        (b'{"jsonrpc":"2.0","id":4,"method":"ping","params":[1]}', 400, -32600, 4),
        (b'{"jsonrpc":"2.0","id":"x","method":"prompts/list"}', 200, -32601, "x"),
        (b'{"jsonrpc":"2.0","id":5,"method":"tools/call"}', 200, -32602, 5),
        (b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"rm"}}', 200, -32602, 5),
        (
            b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"search_mcp","arguments":[]}}',
            200,
            -32602,
            5,
        ),
    ],
)
def test_invalid_messages(server: Server, body: bytes, status: int, code: int, identity: Any) -> None:
    response = server.post(body)
    assert (response.status, response.json["error"]["code"], response.json["id"]) == (status, code, identity)


def test_a_byte_order_mark_is_ignored(server: Server) -> None:
    assert server.post(b"\xef\xbb\xbf" + json.dumps(request("ping")).encode()).json["result"] == {}


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}},
    ],
)
def test_notifications_and_responses_get_202_without_a_body(server: Server, message: Any) -> None:
    response = server.post(message)
    assert (response.status, response.body, response.headers["Content-Type"]) == (202, b"", None)


def test_a_batch_gets_one_response(server: Server) -> None:
    batch = [
        request("ping", identity="a"),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"nonsense": 1},
        request("initialize", identity="b"),
        request("tools/call", {"name": "search_mcp", "arguments": {"keywords": "a"}}, identity="c"),
    ]
    for headers in ({}, {"MCP-Protocol-Version": "2025-03-26"}):
        responses = server.post(batch, headers=headers).json
        assert [response["id"] for response in responses] == ["a", None, "b", "c"]
        assert [response.get("error", {}).get("code") for response in responses] == [None, -32600, -32600, None]
    assert server.post([batch[1]]).status == 202


@pytest.mark.parametrize("batch", [[], [request("ping")] * 51])
def test_an_empty_or_too_large_batch_is_rejected(server: Server, batch: Any) -> None:
    response = server.post(batch)
    assert (response.status, response.json["error"]["code"]) == (400, -32600)


def test_later_versions_reject_batches(server: Server) -> None:
    response = server.post([request("ping")], headers={"MCP-Protocol-Version": "2025-06-18"})
    assert (response.status, response.json["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/.well-known/oauth-protected-resource"),
        ("GET", "/.well-known/oauth-protected-resource/api/open/mcp"),
        ("GET", "/.well-known/oauth-authorization-server"),
        ("GET", "/api/open/mcp/.well-known/openid-configuration"),
        ("POST", "/register"),
    ],
)
def test_oauth_probes_get_a_message_about_keys(server: Server, method: str, path: str) -> None:
    response = server.request(method, path, key=None)
    assert (response.status, response.json["error"]) == (404, "invalid_request")
    assert "API keys" in response.json["error_description"]


@pytest.mark.parametrize("identity", [2**53, 2**64 - 1, -(2**63), 1.5, "a", "", "雨" * 256])
def test_an_id_is_returned_unchanged(server: Server, identity: Any) -> None:
    assert server.post({**request("ping"), "id": identity}).json["id"] == identity


@pytest.mark.parametrize("identity", [10**30, 2**64, 1e300, "a" * 257, True])
def test_an_id_that_is_too_long_or_has_no_exact_representation_is_rejected(server: Server, identity: Any) -> None:
    message = {**request("ping"), "id": identity}
    response = server.post(message)
    assert (response.status, response.json["error"]["code"], response.json["id"]) == (400, -32600, None)
    assert "id: must be a string of at most 256 characters, or a number" in response.json["error"]["message"]
    assert [each["id"] for each in server.post([message, request("ping", identity=2)]).json] == [None, 2]


@pytest.mark.parametrize("headers", [{"Content-Type": "text/plain"}, {"Content-Encoding": "gzip"}])
def test_another_content_type_or_encoding_is_415(server: Server, headers: dict[str, str]) -> None:
    response = server.post(request("ping"), headers=headers)
    assert (response.status, response.json["error"]["code"]) == (415, -32600)


def test_a_body_over_the_limit_is_413(server: Server) -> None:
    response = server.post(request("ping", {"x": "a" * 70_000}))
    assert (response.status, response.json["error"]["data"], response.json["id"]) == (413, {"error": "too_large"}, None)
    largest = server.post(json.dumps(request("ping")).encode().ljust(65_536))
    assert largest.status == 200


def test_an_internal_error_returns_the_id(
    server: Server, logged_failures: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("inner secret")

    monkeypatch.setattr("directory_server.search.ImpactIndex.search", broken)
    message = request("tools/call", {"name": "search_mcp", "arguments": {"keywords": "a"}}, identity="mine")
    response = server.post(message)
    assert (response.status, response.json["id"], response.json["error"]["code"]) == (500, "mine", -32603)
    assert b"inner secret" not in response.body
    assert len(logged_failures) == 1
    logged_failures.clear()


def too_large(batch: list[Any]) -> list[bool]:
    """Return for each response of a batch whether it is the error batch_too_large."""
    return [response.get("error", {}).get("data") == {"error": "batch_too_large"} for response in batch]


def test_a_batch_has_at_most_twenty_free_requests(server: Server) -> None:
    charged = request("tools/call", {"name": "search_mcp", "arguments": {"keywords": "postgres"}})
    responses = server.post([*(request("ping", identity=number) for number in range(30)), charged]).json
    assert too_large(responses) == [False] * 20 + [True] * 10 + [False]
    assert [response["id"] for response in responses] == [*range(30), 1]
    assert "Send this one in another" in responses[20]["error"]["message"]


def test_requests_after_a_batch_limit_in_bytes_are_rejected(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.web.mcp._endpoint.BATCH_BYTES", 18_000)
    call = request("tools/call", {"name": "get_mcp_detail", "arguments": {"mcp_id": POSTGRES_ID}})
    response = server.post([request("tools/list"), call] * 5)
    rejected = too_large(response.json)
    assert rejected == sorted(rejected)
    assert 2 < rejected.count(True) < 8
    assert len(response.body) < 32_000
    # Rejected requests are not charged.
    assert response.headers["X-RateLimit-Remaining"] == str(20 - rejected[1::2].count(False))
