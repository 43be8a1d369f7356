"""MCP resources, with the stateful and the stateless protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .conftest import MAIL, META, POSTGRES, POSTGRES_ID, Response, Server, entry

UNKNOWN = "00000000-0000-5000-8000-000000000000"
POSTGRES_URI = f"directory://entries/{POSTGRES_ID}"
PROTOCOLS = pytest.mark.parametrize("protocol", ["stateful", "stateless"])


def send(server: Server, protocol: str, method: str, **params: Any) -> Response:
    if protocol == "stateful":
        return server.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    if "uri" in params:
        headers["Mcp-Name"] = str(params["uri"])
    return server.post(
        {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}, headers=headers
    )


def listed(server: Server, protocol: str = "stateful") -> list[dict[str, Any]]:
    resources: list[dict[str, Any]] = send(server, protocol, "resources/list").json["result"]["resources"]
    return resources


@PROTOCOLS
def test_the_list_has_the_newest_entries_and_is_not_charged(server: Server, protocol: str) -> None:
    response = send(server, protocol, "resources/list")
    assert response.json["result"]["resources"] == [
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
    assert response.headers["X-RateLimit-Remaining"] == "20"


def test_the_list_has_twenty_entries_and_is_updated(server: Server) -> None:
    server.publish(*(entry(f"x/{number}") for number in range(25)))
    assert [each["name"] for each in listed(server)] == [f"x/{number}" for number in range(24, 4, -1)]
    server.publish(entry("x/7", "It is another."))
    expected = [7, *(number for number in range(24, 4, -1) if number != 7)]
    assert [each["name"] for each in listed(server)] == [f"x/{number}" for number in expected]
    assert {each["name"]: each["description"] for each in listed(server)}["x/7"] == "It is another."


@PROTOCOLS
def test_the_template_gives_the_uri_of_each_entry(server: Server, protocol: str) -> None:
    (template,) = send(server, protocol, "resources/templates/list").json["result"]["resourceTemplates"]
    uri = template["uriTemplate"].replace("{mcp_id}", POSTGRES_ID)
    (contents,) = send(server, protocol, "resources/read", uri=uri).json["result"]["contents"]
    assert (contents["uri"], contents["mimeType"]) == (uri, "application/json")
    assert json.loads(contents["text"]) == server.get(f"/api/open/v1/entries/{POSTGRES_ID}").json


@PROTOCOLS
def test_a_read_costs_one_request_even_if_the_entry_is_unknown(server: Server, protocol: str) -> None:
    assert send(server, protocol, "resources/read", uri=POSTGRES_URI).headers["X-RateLimit-Remaining"] == "19"
    unknown = f"directory://entries/{UNKNOWN}"
    assert send(server, protocol, "resources/read", uri=unknown).headers["X-RateLimit-Remaining"] == "18"


@pytest.mark.parametrize(("protocol", "status", "code"), [("stateful", 200, -32002), ("stateless", 400, -32602)])
@pytest.mark.parametrize(
    "uri", [f"directory://entries/{UNKNOWN}", "directory://entries/x", "directory://other", "file:///etc/passwd", ""]
)
def test_an_unknown_resource_is_an_error_of_the_protocol(
    server: Server, protocol: str, status: int, code: int, uri: str
) -> None:
    response = send(server, protocol, "resources/read", uri=uri)
    error = response.json["error"]
    assert (response.status, error["code"], error["data"]) == (status, code, {"uri": uri})


@PROTOCOLS
@pytest.mark.parametrize("uri", [None, 7, ["x"]])
def test_a_uri_must_be_a_string(server: Server, protocol: str, uri: Any) -> None:
    response = send(server, protocol, "resources/read", uri=uri)
    assert response.json["error"]["code"] == -32602
    assert response.headers["X-RateLimit-Remaining"] == "20"


@PROTOCOLS
@pytest.mark.parametrize("method", ["resources/list", "resources/templates/list"])
def test_there_is_one_page(server: Server, protocol: str, method: str) -> None:
    assert send(server, protocol, method, cursor="x").json["error"]["code"] == -32602


@PROTOCOLS
def test_an_exceeded_quota_is_an_error_with_status_200_and_retry_after(server: Server, protocol: str) -> None:
    for _ in range(20):
        server.get("/api/open/v1/search?keywords=a")
    server.clock.advance(600)
    response = send(server, protocol, "resources/read", uri=POSTGRES_URI)
    assert response.status == 200
    assert response.json["error"]["code"] == -32600
    assert response.json["error"]["data"] == {"error": "rate_limited", "retry_after": 3000}
    assert "50 minutes" in response.json["error"]["message"]
    assert response.headers["Retry-After"] == "3000"


def test_stateless_results_are_cacheable(server: Server) -> None:
    for method, params in (
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": POSTGRES_URI}),
    ):
        result = send(server, "stateless", method, **params).json["result"]
        assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == ("complete", 300_000, "public")


def test_a_stateless_read_repeats_its_uri_in_a_header(server: Server) -> None:
    params = {"uri": POSTGRES_URI, "_meta": META}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "resources/read"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params}
    for name in ({}, {"Mcp-Name": f"directory://entries/{UNKNOWN}"}):
        assert server.post(message, headers={**headers, **name}).json["error"]["code"] == -32020


@PROTOCOLS
def test_subscriptions_by_uri_are_unsupported(server: Server, protocol: str) -> None:
    assert send(server, protocol, "resources/subscribe", uri=POSTGRES_URI).json["error"]["code"] == -32601
