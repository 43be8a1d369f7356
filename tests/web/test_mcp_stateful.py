"""The MCP door as clients of the initialize era use it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from directory_server.run_sync import run_sync

from .conftest import POSTGRES, POSTGRES_ID, Server

ENDPOINT = "/api/open/mcp"
UNKNOWN = "00000000-0000-5000-8000-000000000000"


def request(method: str, params: Any = None, identity: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "method": method, **({} if params is None else {"params": params})}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_initialize_echoes_a_version_it_knows(server: Server, version: str) -> None:
    answer = server.post(request("initialize", {"protocolVersion": version, "capabilities": {}}))
    assert answer.status == 200
    assert answer.json["result"]["protocolVersion"] == version
    assert answer.json["result"]["capabilities"] == {
        "tools": {"listChanged": False},
        "resources": {"listChanged": True},
    }
    assert answer.headers["Mcp-Session-Id"]


@pytest.mark.parametrize("params", [None, {}, {"protocolVersion": "1999-01-01"}, {"protocolVersion": 7}])
def test_initialize_offers_the_newest_version_for_one_it_does_not_know(server: Server, params: Any) -> None:
    assert server.post(request("initialize", params)).json["result"]["protocolVersion"] == "2025-11-25"


def test_a_session_is_recognised_by_every_process_and_after_rotation(server: Server) -> None:
    session = str(server.post(request("initialize")).headers["Mcp-Session-Id"])
    assert session.isascii()
    assert session.isprintable()
    _, rotated = run_sync(server.keys.rotate(server.key_id, grace=0))
    assert server.post(request("ping"), key=rotated, headers={"Mcp-Session-Id": session}).json["result"] == {}


@pytest.mark.parametrize("session", ["", "x", "x.y", "é.y", "." * 300])
def test_a_broken_session_is_404(server: Server, session: str) -> None:
    answer = server.post(request("ping", identity=9), headers={"Mcp-Session-Id": session})
    assert (answer.status, answer.json["id"]) == (404, 9)


def test_the_session_of_another_key_is_404(server: Server) -> None:
    session = str(server.post(request("initialize")).headers["Mcp-Session-Id"])
    _, other = server.new_key()
    for method in ("POST", "GET"):
        body = json.dumps(request("ping")).encode() if method == "POST" else b""
        answer = server.ask(method, ENDPOINT, key=other, headers={"Mcp-Session-Id": session}, body=body)
        assert answer.status == 404


def test_the_tools_are_listed_free_of_charge(server: Server) -> None:
    answer = server.post(request("tools/list"))
    tools = {tool["name"]: tool for tool in answer.json["result"]["tools"]}
    assert set(tools) == {"search_mcp", "get_mcp_detail"}
    for tool in tools.values():
        assert tool["annotations"]["readOnlyHint"] is True
        assert tool["annotations"]["idempotentHint"] is True
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object"
    assert tools["search_mcp"]["inputSchema"]["properties"]["limit"]["default"] == 50
    assert answer.headers["X-RateLimit-Remaining"] == "20"


def test_a_foreign_cursor_is_an_error(server: Server) -> None:
    assert server.post(request("tools/list", {"cursor": "x"})).json["error"]["code"] == -32602


def test_search_answers_text_and_the_same_structured(server: Server) -> None:
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
            }
        ],
        "count": 1,
    }


def test_detail_answers_the_entry_whole(server: Server) -> None:
    data = server.call("get_mcp_detail", {"mcp_id": POSTGRES_ID})["structuredContent"]["data"]
    assert data["mcp_id"] == POSTGRES_ID
    assert data["server_name"] == POSTGRES.name
    assert data["version"] == "1.0.0"
    assert data["status"] == "active"
    assert data["tags"] == data["tools"] == data["packages"] == []
    assert data["server"] == POSTGRES.server


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("search_mcp", {}, "arguments.keywords: is required"),
        ("search_mcp", {"keywords": ""}, "keywords: is required"),
        ("search_mcp", {"keywords": "a" * 257}, "at most 256"),
        ("search_mcp", {"keywords": 7}, "arguments.keywords: must be a string"),
        ("search_mcp", {"keywords": "a", "limit": 101}, "must be 1 to 100, not 101"),
        ("search_mcp", {"keywords": "a", "limit": 1.5}, "arguments.limit: must be a whole number"),
        ("search_mcp", {"keywords": "a", "limit": True}, "arguments.limit: must be a whole number"),
        ("search_mcp", {"keywords": "a", "page": 2}, "'page'; known are keywords, limit"),
        ("get_mcp_detail", {}, "arguments.mcp_id: is required"),
        ("get_mcp_detail", {"mcp_id": "x"}, "must be a UUID"),
        ("get_mcp_detail", {"mcp_id": None}, "must be a string"),
    ],
)
def test_bad_arguments_are_a_result_that_a_model_can_act_on(
    server: Server, tool: str, arguments: Any, said: str
) -> None:
    result = server.call(tool, arguments)
    assert result["isError"] is True
    told = json.loads(result["content"][0]["text"])
    assert (told["success"], told["error"]) == (False, "bad_request")
    assert said in told["message"]
    assert server.post(request("ping")).headers["X-RateLimit-Remaining"] == "20"


def test_an_unknown_id_is_a_result_too(server: Server) -> None:
    told = json.loads(server.call("get_mcp_detail", {"mcp_id": UNKNOWN})["content"][0]["text"])
    assert (told["success"], told["error"]) == (False, "not_found")


def test_over_quota_is_a_result_that_says_when_to_try_again(server: Server) -> None:
    _, key = server.new_key(limit=1)
    server.call("search_mcp", {"keywords": "a"}, key=key)
    server.clock.advance(600)
    message = request("tools/call", {"name": "search_mcp", "arguments": {"keywords": "a"}})
    answer = server.post(message, key=key)
    assert answer.status == 200
    assert answer.json["result"]["isError"] is True
    told = json.loads(answer.json["result"]["content"][0]["text"])
    assert (told["error"], told["retry_after"]) == ("rate_limited", 3000)
    assert "3000 seconds" in told["message"]
    assert answer.headers["Retry-After"] == "3000"


def test_null_is_as_good_as_nothing(server: Server) -> None:
    assert server.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": None}).json["result"]["tools"]
    assert "keywords: is required" in server.call("search_mcp", None)["content"][0]["text"]


@pytest.mark.parametrize(
    ("body", "status", "code", "identity"),
    [
        (b"{", 400, -32700, None),
        (b"\xff", 400, -32700, None),
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
def test_bad_messages(server: Server, body: bytes, status: int, code: int, identity: Any) -> None:
    answer = server.post(body)
    assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (status, code, identity)


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}},
    ],
)
def test_what_wants_no_answer_gets_none(server: Server, message: Any) -> None:
    answer = server.post(message)
    assert (answer.status, answer.body, answer.headers["Content-Type"]) == (202, b"", None)


def test_a_batch_is_answered_in_one(server: Server) -> None:
    batch = [
        request("ping", identity="a"),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"nonsense": 1},
        request("initialize", identity="b"),
        request("tools/call", {"name": "search_mcp", "arguments": {"keywords": "a"}}, identity="c"),
    ]
    for headers in ({}, {"MCP-Protocol-Version": "2025-03-26"}):
        answers = server.post(batch, headers=headers).json
        assert [answer["id"] for answer in answers] == ["a", None, "b", "c"]
        assert [answer.get("error", {}).get("code") for answer in answers] == [None, -32600, -32600, None]
    assert server.post([batch[1]]).status == 202


@pytest.mark.parametrize("batch", [[], [request("ping")] * 51])
def test_a_batch_of_none_or_too_many_is_refused(server: Server, batch: Any) -> None:
    answer = server.post(batch)
    assert (answer.status, answer.json["error"]["code"]) == (400, -32600)


def test_later_versions_have_no_batches(server: Server) -> None:
    answer = server.post([request("ping")], headers={"MCP-Protocol-Version": "2025-06-18"})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32600)


def test_without_a_key_the_answer_is_jsonrpc_and_names_no_oauth(server: Server) -> None:
    answer = server.post(request("initialize"), key=None)
    assert answer.status == 401
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="MCP directory"'
    assert answer.json["jsonrpc"] == "2.0"
    assert (answer.json["id"], answer.json["error"]["code"]) == (None, -32600)
    assert "Authorization: Bearer" in answer.json["error"]["message"]


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
def test_probes_for_oauth_are_told_of_keys(server: Server, method: str, path: str) -> None:
    answer = server.ask(method, path, key=None)
    assert (answer.status, answer.json["error"]) == (404, "invalid_request")
    assert "API keys" in answer.json["error_description"]


@pytest.mark.parametrize("identity", [2**53, 2**64 - 1, -(2**63), 1.5, "a"])
def test_an_id_comes_back_as_it_was(server: Server, identity: Any) -> None:
    assert server.post({**request("ping"), "id": identity}).json["id"] == identity


@pytest.mark.parametrize("identity", [10**30, 2**64, 1e300])
def test_an_id_that_would_come_back_as_another_is_refused(server: Server, identity: Any) -> None:
    answer = server.post({**request("ping"), "id": identity})
    assert answer.json["error"]["code"] == -32600
    assert "id: must be a string, or a number that is kept exactly" in answer.json["error"]["message"]
    assert answer.json["id"] is None


def test_delete_is_405(server: Server) -> None:
    answer = server.ask("DELETE", ENDPOINT)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, POST")


@pytest.mark.parametrize("headers", [{"Content-Type": "text/plain"}, {"Content-Encoding": "gzip"}])
def test_what_is_not_plain_json_is_415(server: Server, headers: dict[str, str]) -> None:
    answer = server.post(request("ping"), headers=headers)
    assert (answer.status, answer.json["error"]["code"]) == (415, -32600)


def test_a_body_over_the_limit_is_413(server: Server) -> None:
    answer = server.post(request("ping", {"x": "a" * 70_000}))
    assert (answer.status, answer.json["error"]["data"], answer.json["id"]) == (413, {"error": "too_large"}, None)
    exactly = server.post(json.dumps(request("ping")).encode().ljust(65_536))
    assert exactly.status == 200


def test_a_failure_inside_echoes_the_id(
    server: Server, logged_failures: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("inner secret")

    monkeypatch.setattr("directory_server.search.ImpactIndex.search", broken)
    message = request("tools/call", {"name": "search_mcp", "arguments": {"keywords": "a"}}, identity="mine")
    answer = server.post(message)
    assert (answer.status, answer.json["id"], answer.json["error"]["code"]) == (500, "mine", -32603)
    assert b"inner secret" not in answer.body
    assert len(logged_failures) == 1
    logged_failures.clear()


def refused_in(batch: list[Any]) -> list[bool]:
    """Return for each answer of a batch whether the size of the batch is the reason that it is an error."""
    return [answer.get("error", {}).get("data") == {"error": "batch_too_large"} for answer in batch]


def test_a_batch_has_a_bounded_number_of_requests_that_cost_nothing(server: Server) -> None:
    spent = request("tools/call", {"name": "search_mcp", "arguments": {"keywords": "postgres"}})
    answers = server.post([*(request("ping", identity=number) for number in range(30)), spent]).json
    assert refused_in(answers) == [False] * 20 + [True] * 10 + [False]
    assert [answer["id"] for answer in answers] == [*range(30), 1]
    assert "Send this one in another" in answers[20]["error"]["message"]


def test_a_batch_ends_where_its_answers_are_large(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.web.mcp._endpoint.BATCH_BYTES", 10_000)
    call = request("tools/call", {"name": "get_mcp_detail", "arguments": {"mcp_id": POSTGRES_ID}})
    answer = server.post([request("tools/list"), call] * 5)
    refused = refused_in(answer.json)
    assert refused == sorted(refused)
    assert 2 < refused.count(True) < 8
    assert len(answer.body) < 20_000
    # What was refused has cost nothing.
    assert answer.headers["X-RateLimit-Remaining"] == str(20 - refused[1::2].count(False))


@pytest.mark.parametrize("method", [["tools/call"], {"a": 1}, 5, None])
def test_a_message_of_a_batch_may_have_any_value_as_its_method(server: Server, method: Any) -> None:
    answers = server.post([{"jsonrpc": "2.0", "id": 1, "method": method}, request("ping", identity=2)]).json
    assert [answer.get("error", {}).get("code") for answer in answers] == [-32600, None]
