"""The manifest, server cards, and identifiers (ARD v0.9, section 4; SEP-2127)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from directory_server.domain.entries import Entry, mcp_id_of
from directory_server.features.ard.names import host_name, urn

from ...web.conftest import POSTGRES_ID, Server

URN = re.compile(r"urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+")
"""The pattern of identifiers in `ai-catalog.schema.json`."""

CARDS = "/api/ard/v1/cards"

HOSTILE = Entry(
    {
        "name": "com.acme/a b\u202ec/d",
        "title": "<b>\x1b[2J\u200b",
        "description": "x" * 5_000,
        "version": "1" * 400,
        "websiteUrl": "javascript:alert(1)",
        "repository": {"url": 7, "source": "github"},
        "remotes": [
            {"type": "stdio", "url": "https://x.example"},
            {"type": "sse", "url": "file:///etc/passwd"},
            {
                "type": "streamable-http",
                "url": "https://{tenant}.example/mcp",
                "more": 1,
                "variables": {"tenant": {"isRequired": True, "choices": ["a", 7], "format": "x"}, "odd": 1},
                "headers": [{"name": "X-Key", "isSecret": True, "value": 7}, {"value": "no name"}, "text"],
            },
        ],
    }
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("com.acme/weather", "urn:air:acme.com:weather"),
        ("io.github.acme/Weather_MCP.x", "urn:air:acme.github.io:Weather_MCP.x"),
        ("io.github.acme/a/b", "urn:air:acme.github.io:a:b"),
        ("weather", "urn:air:dir.example:weather"),
        ("acme/weather", "urn:air:dir.example:acme:weather"),
    ],
)
def test_an_identifier_begins_with_the_domain_of_the_publisher(name: str, expected: str) -> None:
    assert urn(name, "dir.example") == expected


def test_names_with_other_characters_have_different_identifiers() -> None:
    names = ["com.acme/a b", "com.acme/a-b", "com.acme/a\u202eb", "com.acme/", "", "/", "com.acme/ü", "com.acme/\ud800"]
    found = {urn(name, "dir.example") for name in names}
    assert len(found) == len(names)
    assert all(map(URN.fullmatch, found)), found


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://dir.example.org", "dir.example.org"),
        ("http://dir.example.org:8080/x", "dir.example.org"),
        ("http://127.0.0.1:8080", "localhost"),
        ("http://[::1]:8080", "localhost"),
        ("http://", "localhost"),
    ],
)
def test_the_host_of_a_url_is_a_name(url: str, name: str) -> None:
    assert host_name(url) == name


@pytest.mark.parametrize("path", ["/.well-known/ai-catalog.json", "/.well-known/ard.json"])
def test_the_manifest_names_the_registry_and_the_endpoint(server: Server, path: str) -> None:
    response = server.get(path, key=None)
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Cache-Control"] == "public, max-age=3600"
    manifest = response.json
    assert (manifest["specVersion"], manifest["host"]["displayName"]) == ("1.0", "MCP directory")
    registry, endpoint = manifest["entries"]
    assert (registry["type"], registry["url"]) == ("application/ai-registry+json", "http://localhost/api/ard/v1/")
    assert 2 <= len(endpoint["representativeQueries"]) <= 5
    assert all(URN.fullmatch(each["identifier"]) for each in manifest["entries"])
    card = server.get(endpoint["url"].removeprefix("http://localhost"), key=None)
    assert card.headers["Content-Type"] == endpoint["type"]
    assert card.json["remotes"][0]["url"] == "http://localhost/api/open/mcp"
    known = server.get(path, key=None, headers={"If-None-Match": response.headers["ETag"] or ""})
    assert (known.status, known.body) == (304, b"")


@pytest.mark.parametrize(
    ("server", "count"),
    [
        ({"ard.access": "public", "ard.manifest_entries": 1}, 1),
        ({"ard.access": "public", "ard.manifest_entries": 100}, 2),
        ({"ard.access": "key", "ard.manifest_entries": 100}, 0),
    ],
    indirect=["server"],
)
def test_the_manifest_of_a_public_registry_has_entries_if_the_operator_wants_it(server: Server, count: int) -> None:
    _, _, *listed = server.get("/.well-known/ai-catalog.json", key=None).json["entries"]
    assert len(listed) == count
    for item in listed:
        card = server.get(item["url"].removeprefix("http://localhost"), key=None)
        assert (card.status, card.json["name"]) == (200, item["metadata"]["serverName"])
    # The entries of a client with a key may be other ones.
    for key, scope in ((None, "public"), (server.key, "private" if count else "public")):
        response = server.get("/.well-known/ard.json", key=key)
        assert (response.headers["Cache-Control"] or "").startswith(f"{scope}, max-age")


def test_the_older_catalog_names_the_endpoint(server: Server) -> None:
    catalog = server.get("/.well-known/mcp/catalog.json", key=None).json
    assert catalog["specVersion"] == "draft"
    [entry] = catalog["entries"]
    assert entry.keys() == {"identifier", "displayName", "type", "url"}


def test_pages_lead_to_the_manifest(server: Server) -> None:
    page = server.get("/", key=None, headers={"Accept": "text/html"}).body.decode()
    assert '<link rel="ai-catalog"' in page
    assert '<link rel="ard" type="application/json" href="/.well-known/ard.json">' in page


def test_a_card_costs_a_request(server: Server) -> None:
    assert server.get(f"{CARDS}/{POSTGRES_ID}", key=None).status == 401
    card = server.get(f"{CARDS}/{POSTGRES_ID}")
    assert (card.status, card.headers["X-RateLimit-Remaining"]) == (200, "19")
    assert card.headers["Cache-Control"] == "private, max-age=3600"
    assert (card.json["name"], card.json["title"]) == ("io.github.example/postgres-mcp", "Postgres")
    assert server.get(f"{CARDS}/{mcp_id_of('none')}").status == 404


def test_a_card_of_a_hostile_entry_has_only_what_the_schema_allows(server: Server) -> None:
    server.publish(HOSTILE)
    card: dict[str, Any] = server.get(f"{CARDS}/{HOSTILE.mcp_id}").json
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", card["name"])
    assert len(card["description"]) <= 100
    assert len(card["version"]) <= 255
    assert "websiteUrl" not in card
    assert "repository" not in card
    assert card["remotes"] == [
        {
            "type": "streamable-http",
            "url": "https://{tenant}.example/mcp",
            "headers": [{"name": "X-Key", "isSecret": True}],
            "variables": {"tenant": {"isRequired": True}},
        }
    ]
    assert not re.search(r"[\x00-\x1f\u200b\u202e]", card["title"] + card["name"])


@pytest.mark.parametrize("website", ["http://[x", "javascript:alert(1)", "https://a:b@acme.example", "//acme.example"])
def test_a_card_has_no_website_that_is_no_link(server: Server, website: str) -> None:
    hostile = Entry({"name": "com.acme/x", "description": "X.", "version": "1.0.0", "websiteUrl": website})
    server.publish(hostile)
    card = server.get(f"{CARDS}/{hostile.mcp_id}")
    assert (card.status, "websiteUrl" in card.json) == (200, False)
