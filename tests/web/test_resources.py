"""The entries as resources of MCP, in both eras."""

from __future__ import annotations

import json
from typing import Any

import pytest

from directory_server.domain.entries import mcp_id_of
from directory_server.run_sync import run_sync

from .conftest import MAIL, POSTGRES, POSTGRES_ID, Answer, Server, entry

UNKNOWN = "00000000-0000-5000-8000-000000000000"
POSTGRES_URI = f"directory://entries/{POSTGRES_ID}"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])


def ask(server: Server, era: str, method: str, **params: Any) -> Answer:
    if era == "legacy":
        return server.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    if "uri" in params:
        headers["Mcp-Name"] = str(params["uri"])
    return server.post(
        {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}, headers=headers
    )


def listed(server: Server, era: str = "legacy") -> list[dict[str, Any]]:
    resources: list[dict[str, Any]] = ask(server, era, "resources/list").json["result"]["resources"]
    return resources


@ERAS
def test_the_list_has_what_was_added_last_free_of_charge(server: Server, era: str) -> None:
    answer = ask(server, era, "resources/list")
    assert answer.json["result"]["resources"] == [
        {
            "uri": f"directory://entries/{MAIL.mcp_id}",
            "name": MAIL.name,
            "title": MAIL.name,
            "description": "Read and send mail.",
            "mimeType": "application/json",
        },
        {
            "uri": POSTGRES_URI,
            "name": POSTGRES.name,
            "title": "Postgres",
            "description": "Query a Postgres database.",
            "mimeType": "application/json",
        },
    ]
    assert answer.headers["X-RateLimit-Remaining"] == "20"


def test_the_list_has_twenty_and_follows_the_directory(server: Server) -> None:
    server.publish(*(entry(f"x/{number}") for number in range(25)))
    assert [each["name"] for each in listed(server)] == [f"x/{number}" for number in range(24, 4, -1)]
    server.publish(entry("x/7", "It is another."))
    assert [each["name"] for each in listed(server)] == [f"x/{number}" for number in range(24, 4, -1)]
    assert {each["name"]: each["description"] for each in listed(server)}["x/7"] == "It is another."


@ERAS
def test_the_template_leads_to_every_entry(server: Server, era: str) -> None:
    (template,) = ask(server, era, "resources/templates/list").json["result"]["resourceTemplates"]
    uri = template["uriTemplate"].replace("{mcp_id}", POSTGRES_ID)
    (contents,) = ask(server, era, "resources/read", uri=uri).json["result"]["contents"]
    assert (contents["uri"], contents["mimeType"]) == (uri, "application/json")
    assert json.loads(contents["text"]) == server.get(f"/api/open/v1/entries/{POSTGRES_ID}").json


@ERAS
def test_a_read_costs_a_unit_and_so_does_one_of_nothing(server: Server, era: str) -> None:
    assert ask(server, era, "resources/read", uri=POSTGRES_URI).headers["X-RateLimit-Remaining"] == "19"
    absent = f"directory://entries/{UNKNOWN}"
    assert ask(server, era, "resources/read", uri=absent).headers["X-RateLimit-Remaining"] == "18"


@pytest.mark.parametrize(("era", "status", "code"), [("legacy", 200, -32002), ("modern", 400, -32602)])
@pytest.mark.parametrize(
    "uri", [f"directory://entries/{UNKNOWN}", "directory://entries/x", "directory://other", "file:///etc/passwd", ""]
)
def test_what_is_not_there_is_refused_as_the_era_wants(
    server: Server, era: str, status: int, code: int, uri: str
) -> None:
    answer = ask(server, era, "resources/read", uri=uri)
    error = answer.json["error"]
    assert (answer.status, error["code"], error["data"]) == (status, code, {"uri": uri})


@ERAS
@pytest.mark.parametrize("uri", [None, 7, ["x"]])
def test_a_uri_is_a_string(server: Server, era: str, uri: Any) -> None:
    answer = ask(server, era, "resources/read", uri=uri)
    assert answer.json["error"]["code"] == -32602
    assert answer.headers["X-RateLimit-Remaining"] == "20"


@ERAS
@pytest.mark.parametrize("method", ["resources/list", "resources/templates/list"])
def test_there_is_one_page(server: Server, era: str, method: str) -> None:
    assert ask(server, era, method, cursor="x").json["error"]["code"] == -32602


@ERAS
def test_over_quota_is_an_error_at_200_that_says_when_to_try_again(server: Server, era: str) -> None:
    for _ in range(20):
        server.get("/api/open/v1/search?keywords=a")
    server.clock.advance(600)
    answer = ask(server, era, "resources/read", uri=POSTGRES_URI)
    assert answer.status == 200
    assert answer.json["error"]["code"] == -32600
    assert answer.json["error"]["data"] == {"error": "rate_limited", "retry_after": 3000}
    assert "3000 seconds" in answer.json["error"]["message"]
    assert answer.headers["Retry-After"] == "3000"


def test_what_modern_clients_may_keep(server: Server) -> None:
    for method, params in (
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": POSTGRES_URI}),
    ):
        result = ask(server, "modern", method, **params).json["result"]
        assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == ("complete", 300_000, "public")


def test_a_modern_read_repeats_its_uri_in_a_header(server: Server) -> None:
    params = {"uri": POSTGRES_URI, "_meta": META}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "resources/read"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params}
    for name in ({}, {"Mcp-Name": f"directory://entries/{UNKNOWN}"}):
        assert server.post(message, headers={**headers, **name}).json["error"]["code"] == -32020


def test_reads_in_a_batch(server: Server) -> None:
    _, key = server.new_key(limit=1)
    read = {"jsonrpc": "2.0", "method": "resources/read", "params": {"uri": POSTGRES_URI}}
    answers = server.post([{**read, "id": 1}, {**read, "id": 2}], key=key).json
    assert "contents" in answers[0]["result"]
    assert answers[1]["error"]["data"]["error"] == "rate_limited"


@ERAS
def test_nothing_is_subscribed_to_by_its_uri(server: Server, era: str) -> None:
    assert ask(server, era, "resources/subscribe", uri=POSTGRES_URI).json["error"]["code"] == -32601


def test_an_entry_that_was_removed_is_gone_from_the_list(server: Server) -> None:
    from directory_server.domain.entries import OFFICIAL, Entry

    removed = Entry(POSTGRES.server, {OFFICIAL: {"status": "deleted"}})
    run_sync(server.directory.publish("local", [removed]))
    assert [each["name"] for each in listed(server)] == [MAIL.name]
    assert mcp_id_of(POSTGRES.name) == POSTGRES_ID
