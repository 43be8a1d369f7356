"""REST API: search, entries, errors, quota."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest

from directory_server import serialization
from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry
from directory_server.runtime.run_sync import run_sync

from ..logs import captured_lines
from .conftest import POSTGRES, POSTGRES_ID, Server, entry

SEARCH = "/api/open/v1/search"
ENTRIES = "/api/open/v1/entries/"
UNKNOWN = "00000000-0000-5000-8000-000000000000"


def test_a_search_response_has_the_documented_fields(server: Server) -> None:
    response = server.get(f"{SEARCH}?keywords=postgres")
    assert response.status == 200
    assert response.headers["Content-Type"] == "application/json"
    assert response.json == {
        "data": [
            {
                "name": "Postgres",
                "brief": "Query a Postgres database.",
                "website_url": "https://github.com/example/postgres-mcp",
            }
        ],
        "count": 1,
    }


def test_no_hit_is_an_empty_page(server: Server) -> None:
    response = server.get(f"{SEARCH}?keywords=zzzzqqqq")
    assert (response.status, response.json) == (200, {"data": [], "count": 0})
    assert response.headers["Link"] is None


def test_the_link_header_leads_to_the_next_page(server: Server) -> None:
    server.publish(*(entry(f"io.github.example/weather-{number}", "Weather.") for number in range(7)))
    pages = server.pages(f"{SEARCH}?keywords=weather&limit=3")
    seen = [[hit["name"] for hit in response.json["data"]] for response in pages]
    assert [len(page) for page in seen] == [3, 3, 1]
    assert sorted(name for page in seen for name in page) == [
        f"io.github.example/weather-{number}" for number in range(7)
    ]


def starred(number: int, stars: int | None, updated: str) -> Entry:
    server = {
        "name": f"io.github.example/weather-{number}",
        "version": "1.0.0",
        "description": "Weather.",
        "_meta": {PUBLISHER: {"stars": stars}},
    }
    return Entry(server, {OFFICIAL: {"updatedAt": updated}})


@pytest.mark.parametrize(
    ("sort", "expected"),
    # The server's clock is in January 2027.
    [("stars", [2, 0, 1, 3]), ("updated", [1, 2, 0, 3])],
)
def test_hits_are_sorted_and_the_link_keeps_the_order(server: Server, sort: str, expected: list[int]) -> None:
    server.publish(
        starred(0, 5, "2025-01-01T00:00:00Z"),
        starred(1, 0, "2027-01-15T00:00:00Z"),
        starred(2, 70, "2026-01-01T00:00:00Z"),
        starred(3, None, "2028-01-01T00:00:00Z"),
    )
    pages = server.pages(f"{SEARCH}?keywords=weather&limit=1&sort={sort}&fields=server_name")
    assert [int(response.json["data"][0]["server_name"][-1]) for response in pages] == expected


def test_a_cursor_continues_only_its_order(server: Server) -> None:
    server.publish(*(entry(f"io.github.example/weather-{number}", "Weather.") for number in range(3)))
    for sort, other in (("", "&sort=stars"), ("&sort=stars", ""), ("&sort=stars", "&sort=updated")):
        link = server.get(f"{SEARCH}?keywords=weather&limit=1{sort}").headers["Link"] or ""
        cursor = re.findall("cursor=([^&>]+)", link)[0]
        response = server.get(f"{SEARCH}?keywords=weather&limit=1{other}&cursor={cursor}")
        assert response.status == 400
        assert "another order" in response.json["message"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("?keywords=a&sort=name", "sort: must be relevance, stars or updated, not 'name'."),
        ("?keywords=a&sort=", "sort: must be"),
        ("?keywords=a&sort=stars&sort=stars", "more than once"),
        ("", "keywords: is required"),
        ("?keywords=", "keywords: is required"),
        ("?keywords=%20%20", "keywords: is required"),
        (f"?keywords={'a' * 4_097}", "at most 4,096"),
        ("?keywords=a&limit=0", "must be a whole number from 1 to 100"),
        ("?keywords=a&limit=101", "must be a whole number from 1 to 100"),
        ("?keywords=a&limit=ten", "whole number"),
        ("?keywords=a&limit=1.5", "whole number"),
        (f"?keywords=a&limit={'9' * 5000}", "whole number"),
        ("?keywords=a&cursor=%25", "cursor"),
        ("?keywords=a&cursor=bm9wZQ", "cursor"),
        ("?keywords=a&page=2", "'page'; allowed: keywords, limit, match, sort, cursor, fields"),
        ("?keywords=a&fields=", "fields: unknown field ''"),
        ("?keywords=a+runs:cloud", "keywords: runs: must be local, remote or unknown, not 'cloud'."),
        ("?keywords=a&fields=name,,brief", "fields: unknown field ''"),
        ("?keywords=a&fields=name,body", "fields: unknown field 'body'; allowed, separated by commas: mcp_id,name,"),
        ("?keywords=a&fields=name&fields=", "fields: unknown field ''"),
        ("?keywords=a&keywords=b", "more than once"),
        ("?keywords=%ff", "UTF-8"),
        ("?%ff=1", "UTF-8"),
    ],
)
def test_errors_name_the_invalid_parameter_and_cost_nothing(server: Server, query: str, message: str) -> None:
    response = server.get(SEARCH + query)
    assert response.status == 400
    assert response.json["error"] == "bad_request"
    assert message in response.json["message"]
    assert response.headers["X-RateLimit-Remaining"] == "20"


def test_a_search_returns_the_requested_fields(server: Server) -> None:
    response = server.get(f"{SEARCH}?keywords=postgres&fields=server_name,mcp_id,name,mcp_id")
    found = {"server_name": POSTGRES.name, "mcp_id": POSTGRES_ID, "name": "Postgres"}
    assert response.json == {"data": [found], "count": 1, "match": "strong"}
    assert list(response.json["data"][0]) == ["server_name", "mcp_id", "name"]
    # Clients that openapi-python-client generates repeat the parameter.
    assert server.get(f"{SEARCH}?keywords=postgres&fields=server_name&fields=mcp_id,name").json == response.json


def test_search_fields_equal_those_of_the_entry(server: Server) -> None:
    server.publish(entry("a/b", "Quartz.", packages=[{"registryType": "npm", "identifier": "b", "version": "1.0.0"}]))
    (found,) = server.get(f"{SEARCH}?keywords=quartz&fields={','.join(serialization.FIELDS)}").json["data"]
    assert found == server.get(f"/api/open/v1/entries/{found['mcp_id']}").json


def test_pages_of_large_fields_end_early_and_lose_no_hit(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.serialization._entries.PAGE_BYTES", 2_500)
    server.publish(*(entry(f"a/quartz-{number}", "Quartz. " * 60) for number in range(9)))
    plain = server.get(f"{SEARCH}?keywords=quartz&fields=server_name").json["data"]
    pages = [each.json for each in server.pages(f"{SEARCH}?keywords=quartz&limit=7&fields=server_name,server")]
    seen = [{"server_name": each["server_name"]} for page in pages for each in page["data"]]
    assert seen == plain
    assert pages[0]["count"] < 7
    assert len(seen) == 9


def test_mcp_errors_name_the_tool_that_returns_ids(server: Server) -> None:
    result = server.call("get_mcp_detail", {"mcp_id": UNKNOWN})
    assert "search_mcp" in result["content"][0]["text"]


def test_a_cursor_of_another_search_is_rejected(server: Server) -> None:
    server.publish(*(entry(f"io.github.example/weather-{number}", "Weather.") for number in range(3)))
    link = server.get(f"{SEARCH}?keywords=weather&limit=1").headers["Link"]
    cursor = link.partition("cursor=")[2].partition(">")[0]
    response = server.get(f"{SEARCH}?keywords=other&cursor={cursor}")
    assert response.status == 400
    assert "'weather'" in response.json["message"]


def encodings_of(key: str) -> list[str]:
    """Return percent-encoded forms of `key`."""
    every = "".join(f"%{ord(letter):02x}" for letter in key)
    return [f"%6D{key[1:]}", key.replace("_", "%5f"), every, every.upper()]


@pytest.mark.parametrize("prefix", [f"{SEARCH}?keywords=", f"{SEARCH}?keywords=a%20", f"{SEARCH}?fields=", ENTRIES])
def test_a_key_in_percent_encoding_is_recognised(server: Server, prefix: str) -> None:
    for encoded in encodings_of(server.key):
        response = server.get(f"{prefix}{encoded}", key=None)
        assert (response.status, response.json["error"]) == (400, "key_in_url")


@pytest.mark.parametrize("path", ["/", "/unknown/", f"{SEARCH}/", ENTRIES, "/v0.1/servers/", "/entry/", "/?q="])
def test_a_key_in_a_path_reaches_no_log(server: Server, path: str) -> None:
    with captured_lines() as lines:
        for form in (server.key, *encodings_of(server.key)):
            server.get(f"{path}{form}", key=None)
            server.get(f"{path}{form}", key=None, headers={"Accept": "text/html"})
        server.statistics.flush()
    counted = [each.name for each in run_sync(server.statistics._statistics.counts(0, 99_999))]
    logged = unquote("\n".join([*lines, *counted]))
    assert logged.count("GET ") == 10
    assert server.key[5:] not in logged


@pytest.mark.parametrize("query", ["ke%79=x", "%61pi%2Dkey=x", "a=b&access%5Ftoken=x"])
def test_parameters_for_keys_are_recognised_in_percent_encoding(server: Server, query: str) -> None:
    assert server.get(f"{SEARCH}?keywords=a&{query}", key=None).json["error"] == "key_in_url"


@pytest.mark.parametrize("keywords", ["a%26key%3Db", "a%3Fkey%3Db", "token%20%3D", "%E5%AF%86%E9%92%A5", "mcpd%5Fkey"])
def test_texts_about_keys_are_searched_for(server: Server, keywords: str) -> None:
    assert server.get(f"{SEARCH}?keywords={keywords}").status == 200


def test_all_invalid_keys_get_the_same_response(server: Server) -> None:
    revoked, revoked_secret = server.new_key()
    server.request("GET", SEARCH, key=revoked_secret)
    run_sync(server.keys.revoke(revoked))
    _, expired = server.new_key(expires_at=server.clock.seconds() + 10)
    server.clock.advance(11)
    responses = [
        server.get(f"{SEARCH}?keywords=a", key=key)
        for key in (None, "nonsense", "mcpd_" + "a" * 38, revoked_secret, expired, server.key[:-1] + "\xe9")
    ]
    assert {response.status for response in responses} == {401}
    assert {response.json["error"] for response in responses} == {"unauthorized"}
    assert len({response.body for response in responses}) == 1
    assert {response.headers["WWW-Authenticate"] for response in responses} == {'Bearer realm="MCP directory"'}


def test_a_key_is_accepted_in_every_form_of_the_header(server: Server) -> None:
    for header in (
        f"Bearer {server.key}",
        f"bearer   {server.key} ",
        server.key,
        f"  {server.key}",
        f"Bearer {server.key}, Bearer {server.key}",
    ):
        response = server.get(f"{SEARCH}?keywords=a", headers={"Authorization": header})
        assert response.status == 200, header


def test_rest_and_mcp_share_the_quota_of_a_key(server: Server) -> None:
    for used in range(1, 20):
        response = server.get(f"{SEARCH}?keywords=postgres")
        assert response.headers["X-RateLimit-Remaining"] == str(20 - used)
    assert not server.call("search_mcp", {"keywords": "postgres"})["isError"]

    rejected = server.get(f"{SEARCH}?keywords=postgres")
    assert (rejected.status, rejected.json["error"]) == (401, "rate_limited")
    assert rejected.headers["Retry-After"] == "3600"
    assert rejected.headers["RateLimit-Policy"] == '"hour";q=20;w=3600'
    assert rejected.headers["RateLimit"] == '"hour";r=0;t=3600'
    assert server.get(f"/api/open/v1/entries/{POSTGRES_ID}").status == 401
    assert server.call("search_mcp", {"keywords": "postgres"})["isError"]

    server.clock.advance(3600)
    assert server.get(f"{SEARCH}?keywords=postgres").status == 200


def test_an_unknown_entry_is_404(server: Server) -> None:
    response = server.get(f"/api/open/v1/entries/{UNKNOWN}")
    assert (response.status, response.json["error"]) == (404, "not_found")
    assert UNKNOWN in response.json["message"]


def test_an_entry_takes_no_parameters(server: Server) -> None:
    response = server.get(f"/api/open/v1/entries/{POSTGRES_ID}?x=1")
    assert (response.status, "'x'" in response.json["message"]) == (400, True)


def test_an_unsupported_method_is_405(server: Server) -> None:
    response = server.request("POST", SEARCH)
    assert (response.status, response.json["error"]) == (405, "method_not_allowed")
    assert response.headers["Allow"] == "GET, HEAD, OPTIONS"


def test_an_unknown_path_is_404_in_json(server: Server) -> None:
    for path in ("/nothing", "/api/open/v1", "/api/open/v1/searches/", "/%2e%2e/etc/passwd", "/api/open/v1/entries/"):
        response = server.get(path)
        assert (response.status, response.json["error"]) == (404, "not_found"), path


def test_an_unexpected_error_is_logged_and_not_sent(
    server: Server, logged_failures: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("inner secret")

    monkeypatch.setattr("directory_server.search.ImpactIndex.search", broken)
    response = server.get(f"{SEARCH}?keywords=a")
    assert (response.status, response.json["error"]) == (500, "internal_error")
    assert b"inner secret" not in response.body
    assert len(logged_failures) == 1
    logged_failures.clear()
