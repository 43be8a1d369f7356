"""The ARD registry: search, facets, the list, and who may use them (ARD v0.9, section 7)."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from attrs import evolve

from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry
from directory_server.features.ard.requests import BASE_CONTEXT
from directory_server.search import impact_index

from ...web.conftest import POSTGRES, POSTGRES_ID, Response, Server

BASE = "/api/ard/v1"
NAMESPACE = "https://agenticresourcediscovery.org/ns#"
CARD_TYPE = "application/mcp-server-card+json"

public = pytest.mark.parametrize("server", [{"ard.access": "public"}], indirect=True)


def entry(name: str, description: str, *tags: str, **server: Any) -> Entry:
    given = {"name": name, "description": description, "version": "1.0.0", "_meta": {PUBLISHER: {"tags": [*tags]}}}
    return Entry({**given, **server})


TOOLS = {PUBLISHER: {"tags": ["weather", "free data"], "tools": [{"name": "get_weather"}, {"name": "get-weather-map"}]}}
WEATHER = entry("com.acme/weather", "Weather forecasts for any city.", _meta=TOOLS)
STORMS = entry("com.acme/storms", "Warnings of storms and bad weather.", "weather", version="1.10")
ODD = entry("no reversed domain", "Weather of the past.", remotes=[{"type": "sse", "url": "https://old.example.org/x"}])


def post(server: Server, path: str, body: Any, **options: Any) -> Response:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **options.pop("headers", {})}
    return server.request("POST", f"{BASE}/{path}", body=sent, headers=headers, **options)


def search(server: Server, text: str, **members: Any) -> Any:
    query = {"text": text, **({"filter": members.pop("filter")} if "filter" in members else {})}
    response = post(server, "search", {"query": query, **members}, key=None)
    assert response.status == 200, response.body
    return response.json


def names(found: Any) -> list[str]:
    return [result["metadata"]["serverName"] for result in found["results"]]


@public
def test_an_entry_has_the_members_of_the_standard(server: Server) -> None:
    [result] = search(server, "postgres")["results"]
    assert result["score"] == 100
    assert {name: result[name] for name in ("identifier", "displayName", "type", "url", "description", "source")} == {
        "identifier": "urn:air:example.github.io:postgres-mcp",
        "displayName": "Postgres",
        "type": CARD_TYPE,
        "url": f"http://localhost{BASE}/cards/{POSTGRES_ID}",
        "description": "Query a Postgres database.",
        "source": f"http://localhost{BASE}/",
    }
    assert result["metadata"]["mcpId"] == POSTGRES_ID
    server.publish(evolve(ODD, server={**ODD.server, "packages": [{"registryType": "npm", "identifier": "x"}] * 2}))
    [odd] = search(server, ODD.name)["results"]
    assert odd["metadata"]["runs"] == "local, remote"
    # The schema of catalogs allows these types only.
    assert all(isinstance(value, str | int | bool) for value in odd["metadata"].values())


@public
def test_scores_fall_and_a_query_without_an_answer_has_low_ones(server: Server) -> None:
    server.publish(WEATHER, STORMS, ODD)
    scores = [result["score"] for result in search(server, "weather forecasts for a city")["results"]]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert all(isinstance(score, int) and 0 <= score <= 100 for score in scores)
    weak = search(server, "weather of tomato recipes in the office")["results"]
    assert weak[0]["score"] < scores[0]
    assert search(server, "zzzz qqqq")["results"] == []


FILTERS = [
    ({"publisher": "acme.com"}, {WEATHER.name, STORMS.name}),
    ({"publisher": ["acme.com", "example.github.io"]}, {WEATHER.name, STORMS.name}),
    ({"publisher": "acme.co"}, set()),
    ({"tags": ["free data"]}, {WEATHER.name}),
    ({"tags": ["free data", "weather"]}, {WEATHER.name, STORMS.name}),
    ({"type": CARD_TYPE, "metadata.transport": ["sse"]}, {ODD.name}),
    ({"type": ["application/a2a-agent-card+json"]}, set()),
    ({"capabilities": ["get_weather", "x"]}, {WEATHER.name}),
    ({"capabilities": ["get-weather"]}, set()),
    ({"version": "1.10"}, {STORMS.name}),
    ({"version": ["11.0", "1.1.0"]}, set()),
    ({f"{NAMESPACE}version": "1.10"}, {STORMS.name}),
    (
        {"type": ["text/plain", CARD_TYPE], "publisher": "acme.com"},
        {WEATHER.name, STORMS.name},
    ),
]


@public
def test_filters_select_entries(server: Server, subtests: pytest.Subtests) -> None:
    server.publish(WEATHER, STORMS, ODD)
    for given, expected in FILTERS:
        with subtests.test(str(given)):
            assert {*names(search(server, "weather", filter=given))} == expected


@public
def test_keys_of_filters_are_terms_of_the_context(server: Server) -> None:
    server.publish(WEATHER, STORMS, ODD)
    for context in (
        {"ard": NAMESPACE},
        [BASE_CONTEXT, {"a": "https://agenticresourcediscovery.org/"}, {"ard": {"@id": "a:ns#"}}],
    ):
        query = {"@context": context, "text": "weather", "filter": {"ard:publisher": "acme.com"}}
        found = post(server, "search", {"query": query}, key=None).json
        assert {*names(found)} == {WEATHER.name, STORMS.name}
        counted = {"query": query, "resultType": {"facets": [{"field": "type"}]}}
        assert post(server, "explore", counted, key=None).json["facets"]["type"]["buckets"][0]["count"] == 2
    query = {"@context": {"kind": f"{NAMESPACE}metadata"}, "text": "weather", "filter": {"kind.transport": "sse"}}
    assert names(post(server, "search", {"query": query}, key=None).json) == [ODD.name]


@public
def test_a_token_is_one_of_its_query(server: Server) -> None:
    server.publish(WEATHER, STORMS)
    token = search(server, "weather", pageSize=1)["pageToken"]
    assert post(server, "search", {"query": {"text": "storm"}, "pageToken": token}, key=None).status == 400


@public
def test_facets_count_all_matches(server: Server) -> None:
    server.publish(WEATHER, STORMS, ODD)
    fields = [{"field": "type"}, {"field": "publisher", "limit": 1}, {"field": "tags"}, {"field": "metadata.transport"}]
    body = {"query": {"text": "weather"}, "resultType": {"facets": fields}}
    assert post(server, "explore", body, key=None).json == {
        "resultType": "facets",
        "facets": {
            "type": {"buckets": [{"value": CARD_TYPE, "count": 3}], "otherCount": 0},
            "publisher": {"buckets": [{"value": "acme.com", "count": 2}], "otherCount": 1},
            "tags": {"buckets": [], "otherCount": 0},
            "metadata.transport": {"buckets": [{"value": "sse", "count": 1}], "otherCount": 0},
        },
    }
    everything = post(server, "explore", {"resultType": {"facets": [{"field": "publisher", "minCount": 2}]}}, key=None)
    buckets = everything.json["facets"]["publisher"]["buckets"]
    assert buckets == [{"value": "acme.com", "count": 2}, {"value": "example.github.io", "count": 2}]
    none = {"query": {"filter": {"type": "text/plain"}}, "resultType": {"facets": [{"field": "type"}]}}
    assert post(server, "explore", none, key=None).json["facets"]["type"] == {"buckets": [], "otherCount": 0}


def listed(server: Server, parameters: str) -> Any:
    response = server.get(f"{BASE}/agents{parameters}", key=None)
    assert response.status == 200, response.body
    return response.json


@public
def test_the_list_has_all_entries(server: Server) -> None:
    server.publish(WEATHER, STORMS, ODD)
    page, seen = listed(server, "?pageSize=2"), 0
    assert page["total"] == 5
    while True:
        seen += len(page["items"])
        if "pageToken" not in page:
            break
        page = listed(server, f"?pageSize=2&pageToken={page['pageToken']}")
    assert seen == 5
    clauses = f"type = '{CARD_TYPE}' AND publisherId = 'acme.com,x.org'"
    one = listed(server, f"?filter={quote(clauses)}")
    assert (one["total"], len(one["items"])) == (2, 2)
    assert listed(server, "?filter=type%20=%20'text/plain'") == {"items": [], "total": 0}
    assert listed(server, "?pageSize=2&offset=4")["pageSize"] == 2


@public
def test_the_list_has_orders_and_dates(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    dates = {"com.acme/b": "2026-01-31T10:30:00Z", "com.acme/a": "2026-01-30T10:00:00Z", "Z": "2026-01-31T12:00:00Z"}
    server.publish(*(evolve(entry(name, "Z"), meta={OFFICIAL: {"updatedAt": date}}) for name, date in dates.items()))

    def listing(parameters: str) -> list[str]:
        return [item["metadata"]["serverName"] for item in listed(server, parameters)["items"]]

    everything = listing("?orderBy=name")
    assert everything == sorted(everything)
    assert len(everything) == 5
    first = listed(server, "?orderBy=name&pageSize=3")
    assert listing(f"?orderBy=name&pageSize=3&pageToken={first['pageToken']}") == everything[3:]
    since = quote("updatedAfter > '2026-01-31T10:59:00Z'")
    assert listing(f"?filter={since}") == ["Z", "com.acme/b"]
    assert listing(f"?filter={since}&orderBy=name") == ["Z", "com.acme/b"]
    assert listed(server, f"?filter={since}&pageSize=1")["total"] == 2
    monkeypatch.setattr(impact_index, "MAX_NAMED", 1)
    assert server.get(f"{BASE}/agents?filter=publisherId='acme.com'&orderBy=name", key=None).status == 400
    both = quote("publisherId = 'acme.com' AND updatedAfter = '2026-01-31'")
    assert listing(f"?filter={both}&orderBy=updatedAt%20DESC") == ["com.acme/b"]


BAD_INPUT = [
    ("search", {}, "query: must be an object."),
    ("search", {"query": {"text": " "}}, "query.text: is required."),
    ("search", {"query": {"text": "x" * 4_097}}, "query.text: must be a string of at most 4,096 characters."),
    ("search", {"query": {"text": "x"}, "more": 1}, "body: unknown member 'more'; allowed: query, federation,"),
    ("search", {"query": {"text": "x"}, "pageSize": 101}, "pageSize: must be a whole number from 1 to 100."),
    ("search", {"query": {"text": "x"}, "pageSize": True}, "pageSize: must be a whole number"),
    ("search", {"query": {"text": "x"}, "pageToken": 7}, "pageToken: must be the token of the page before"),
    ("search", {"query": {"text": "x"}, "federation": "all"}, "federation: must be auto, referrals or none."),
    ("search", {"query": {"text": "x", "filter": {"host.x": "y"}}}, "query.filter: the field 'host.x' is not supp"),
    ("search", {"query": {"text": "x", "filter": {"tags": []}}}, "tags: must have 1 to 20 values"),
    ("search", {"query": {"text": "x", "filter": {"tags": 'a" -b'}}}, "tags: values must not contain quotation"),
    ("search", {"query": {"text": "x", "filter": {"metadata.auth": "no"}}}, "keywords: auth: must be none, key"),
    ("search", b"[" * 500, "The body is not JSON"),
    ("explore", {"resultType": {"facets": []}}, "resultType.facets: must be an array of 1 to 20 facets."),
    ("explore", {"resultType": {"facets": [{"field": "x"}]}}, "resultType.facets[0]: the field 'x' is not"),
    (
        "explore",
        {"resultType": {"facets": [{"field": "type"}] * 2}},
        "resultType.facets: each field must be given once.",
    ),
    (
        "explore",
        {"resultType": {"facets": [{"field": ["type"]}]}},
        "resultType.facets[0]: the field \"['type']\" is not",
    ),
    ("agents?filter=x", None, "filter: must be clauses"),
    ("agents?filter=createdAfter%20=%20'2026'", None, "filter: the field 'createdAfter' is not supported"),
    ("agents?filter=updatedAfter%20%3E%20'soon'", None, "filter: updatedAfter must be a date or time of ISO 8601"),
    ("agents?orderBy=stars", None, "orderBy: must be name or updatedAt DESC"),
    ("explore", {"resultType": {"facets": [{"field": "version"}]}}, "resultType.facets[0]: the values of version are"),
    ("search", {"query": {"text": "x", "filter": {"okf:tax": "y"}}}, "query.filter: @context does not bind the prefix"),
    ("search", {"query": {"text": "x", "@context": {"type": None}, "filter": {"type": "y"}}}, "query.filter: the fie"),
    ("search", {"query": {"text": "x", "@context": {"a": 7}}}, "query.@context: 'a' must be an IRI"),
    ("search", {"query": {"text": "x", "@context": {"a": "b" * 513}}}, "query.@context: 'a' must be an IRI"),
    ("search", {"query": {"text": "x", "@context": 7}}, "query.@context: must be URLs, and objects of at most 32"),
    ("search", {"query": {"text": "x", "@context": {str(n): "x" for n in range(33)}}}, "query.@context: must be URLs"),
    ("search", {"query": {"text": "x", "@context": ["u"] * 9}}, "query.@context: must have at most 8 contexts."),
    ("search", {"query": {"text": "x", "filter": {"type": "y", NAMESPACE + "type": "y"}}}, "query.filter: type is giv"),
    ("agents?pageSize=0", None, "pageSize: must be a whole number from 1 to 100."),
    ("agents?offset=10001", None, "offset: must be a whole number from 0 to 10,000."),
    ("agents?page=1", None, "Unknown parameter 'page'"),
    ("cards/none", None, "mcp_id: must be a UUID"),
]


@public
def test_bad_input_is_named(server: Server, subtests: pytest.Subtests) -> None:
    for path, body, message in BAD_INPUT:
        with subtests.test(message):
            response = server.get(f"{BASE}/{path}", key=None) if body is None else post(server, path, body, key=None)
            assert (response.status, response.json["errorCode"]) == (400, "INVALID_ARGUMENT")
            assert response.json["message"].startswith(message)


def test_a_key_is_needed_and_charged_by_default(server: Server) -> None:
    body = {"query": {"text": "mail"}}
    refused = post(server, "search", body, key=None)
    assert (refused.status, refused.json["errorCode"]) == (401, "UNAUTHENTICATED")
    assert post(server, "search", {"query": {}}).headers["X-RateLimit-Remaining"] == "20"
    for left in range(19, -1, -1):
        assert post(server, "search", body).headers["X-RateLimit-Remaining"] == str(left)
    spent = post(server, "search", body)
    assert (spent.status, spent.json["errorCode"]) == (429, "RATE_LIMIT_EXCEEDED")
    assert int(spent.headers["Retry-After"] or 0) > 0


@public
def test_requests_without_a_key_are_limited_per_address(server: Server) -> None:
    statuses = [server.get(f"{BASE}/agents?pageSize=1", key=None).status for _ in range(121)]
    assert statuses == [200] * 120 + [429]
    assert post(server, "search", {"query": {"text": "mail"}}).status == 200


@pytest.mark.parametrize("server", [{"ard.access": "off"}], indirect=True)
@pytest.mark.parametrize(
    "path", [f"{BASE}/agents", f"{BASE}/cards/{POSTGRES_ID}", "/api/open/mcp/server-card", "/.well-known/ard.json"]
)
def test_without_the_registry_there_are_no_paths(server: Server, path: str) -> None:
    assert (server.get(path).status, server.get(path).json["errorCode"]) == (404, "NOT_FOUND")


@public
def test_pages_of_every_origin_may_search(server: Server) -> None:
    origin = {"Origin": "https://other.example"}
    preflight = server.request("OPTIONS", f"{BASE}/search", key=None, headers=origin)
    assert (preflight.status, preflight.headers["Access-Control-Allow-Methods"]) == (204, "GET, POST, OPTIONS")
    found = post(server, "search", {"query": {"text": POSTGRES.name}}, key=None, headers=origin)
    assert (found.status, found.headers["Access-Control-Allow-Origin"]) == (200, "*")


@pytest.mark.parametrize(
    "server", [{"ard.access": "public", "ard.referrals": ("https://other.example:8443/api/",)}], indirect=True
)
def test_other_registries_are_named_on_request(server: Server) -> None:
    assert search(server, "mail", federation="referrals")["referrals"] == [
        {
            "identifier": "urn:air:other.example:registry",
            "displayName": "other.example",
            "type": "application/ai-registry+json",
            "url": "https://other.example:8443/api/",
        }
    ]
    assert "referrals" not in search(server, "mail", federation="auto")


@public
def test_an_entry_is_retrieved_by_its_identifier(server: Server) -> None:
    server.publish(WEATHER, entry("acme/tides", "Tides."), entry("com.acme/deep/er", "Depths."))
    for name, identifier in (
        ("com.acme/weather", "urn:air:acme.com:weather"),
        ("acme/tides", "urn:air:localhost:acme:tides"),
        ("com.acme/deep/er", "urn:air:acme.com:deep:er"),
    ):
        response = server.get(f"{BASE}/agents/{quote(identifier, safe='')}", key=None)
        assert (response.status, response.json["identifier"]) == (200, identifier)
        assert response.json["metadata"]["serverName"] == name
        assert response.json["@context"] == BASE_CONTEXT
        assert not {"score", "source"} & response.json.keys()
        tag = {"If-None-Match": response.headers["ETag"]}
        assert server.get(f"{BASE}/agents/{quote(identifier, safe='')}", key=None, headers=tag).status == 304


@public
def test_a_retrieved_entry_has_its_queries(server: Server) -> None:
    queries = [7, "wind in Chicago", "wind in Chicago", "x" * 501, *map(str, range(9))]
    claims = {PUBLISHER: {"representativeQueries": queries}}
    server.publish(
        evolve(WEATHER, server={**WEATHER.server, "_meta": claims}),
        evolve(STORMS, server={**STORMS.server, "_meta": {PUBLISHER: {"representativeQueries": "x"}}}),
    )
    whole = server.get(f"{BASE}/agents/urn%3Aair%3Aacme.com%3Aweather", key=None).json
    assert whole["representativeQueries"] == ["wind in Chicago", "0", "1", "2", "3"]
    assert "representativeQueries" not in server.get(f"{BASE}/agents/urn:air:acme.com:storms", key=None).json
    assert "representativeQueries" not in search(server, "weather")["results"][0]


@public
@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("urn%3Aair%3Aacme.com%3Anone", 404, "NOT_FOUND"),
        # The identifier is case-sensitive, and encoded once.
        ("urn%3Aair%3Aexample.github.io%3APostgres-MCP", 404, "NOT_FOUND"),
        ("urn%253Aair%253Aexample.github.io%253Apostgres-mcp", 400, "INVALID_ARGUMENT"),
        ("urn%3Aair%3Aexample.github.io%3Apostgres-mcp%", 400, "INVALID_ARGUMENT"),
        ("urn%3Aair%3Aacme.com", 400, "INVALID_ARGUMENT"),
        ("weather", 400, "INVALID_ARGUMENT"),
        ("urn%3Aair%3Aacme.com%3A%00", 400, "INVALID_ARGUMENT"),
        (f"urn%3Aair%3Aacme.com%3A{'a' * 5_000}", 400, "INVALID_ARGUMENT"),
    ],
)
def test_wrong_identifiers_have_the_codes_of_the_standard(server: Server, path: str, status: int, code: str) -> None:
    response = server.get(f"{BASE}/agents/{path}", key=None)
    assert (response.status, response.json["errorCode"]) == (status, code)
