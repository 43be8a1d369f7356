"""Tools, versions and similar servers on the page of an entry."""

from __future__ import annotations

from typing import Any

import pytest

from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry, mcp_id_of
from directory_server.domain.search import Query
from directory_server.web.pages._entries import all_tags
from directory_server.web.pages._entry_page import (
    MAX_ALL_PARAMETERS,
    MAX_PARAMETERS,
    MAX_SIMILAR,
    MAX_TOOLS,
    MAX_VERSIONS,
    SIMILAR_WORDS,
    similar_words,
    tools_of,
)

from ..conftest import Server, entry
from .conftest import Document, GetPage

SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What to find."},
        "limit": {"type": ["integer", "null"]},
        "order": {"enum": ["new", "old"]},
        "ids": {"type": "array", "items": {"type": "string"}},
        "any": True,
    },
    "required": ["query"],
}


def with_tools(*tools: Any, name: str = "io.github.example/tools") -> Entry:
    return entry(name, _meta={PUBLISHER: {"tools": list(tools)}})


def version(number: int, **status: Any) -> Entry:
    server = {"name": "io.github.example/versions", "description": "Has versions.", "version": f"{number}.0.0"}
    date = f"2026-01-{number:02}T00:00:00Z"
    return Entry(server, {OFFICIAL: {"status": "active", "publishedAt": date, "isLatest": False, **status}})


@pytest.mark.parametrize(("version", "is_shown"), [("0.0.0", False), ("1.2.3", True)])
def test_a_filler_is_no_version(get_page: GetPage, server: Server, version: str, is_shown: bool) -> None:
    server.publish(entry("io.github.example/old", version=version, _meta={PUBLISHER: {"license": "apache-2.0"}}))
    page = Document(get_page(f"/servers/{mcp_id_of('io.github.example/old')}"))
    assert (version in page.text) == is_shown
    assert ("Version" in page.text) == is_shown
    assert "Apache-2.0" in page.text


def test_tools_are_listed_with_their_parameters(get_page: GetPage, server: Server) -> None:
    tools = with_tools({"name": "find", "description": "Finds.", "inputSchema": SCHEMA}, {"name": "plain"})
    server.publish(tools)
    page = Document(get_page(f"/servers/{tools.mcp_id}")).text
    for expected in ("find", "Finds.", "5 parameters", "What to find.", "integer or null", "new | old", "plain"):
        assert expected in page
    views, more = tools_of(tools)
    assert more == 0
    assert [(each.name, each.type, each.is_required) for each in views[0][1]] == [
        ("query", "string", True),
        ("limit", "integer or null", False),
        ("order", "new | old", False),
        ("ids", "array of string", False),
        ("any", "", False),
    ]
    assert list(views[1][1]) == []


@pytest.mark.parametrize(
    "schema",
    [
        7,
        [],
        {"properties": []},
        {"properties": {"a": 7}, "required": "a"},
        {"properties": {"a": {"type": {}, "enum": [[]], "items": 7, "description": []}}, "required": [[], None]},
        {"properties": {"a": {"type": "array", "items": {"type": []}, "enum": [None]}}},
    ],
)
def test_malformed_schemas_are_shown_as_far_as_they_can_be_read(schema: Any) -> None:
    views, _ = tools_of(with_tools({"name": "a", "inputSchema": schema}))
    assert [tool.name for tool, _, _ in views] == ["a"]


def test_schemas_belong_to_their_tools() -> None:
    views, _ = tools_of(with_tools({"inputSchema": SCHEMA}, 7, {"name": ""}, {"name": "b", "inputSchema": SCHEMA}))
    assert [(tool.name, len(parameters)) for tool, parameters, _ in views] == [("b", 5)]


def test_tools_and_parameters_are_bounded() -> None:
    many = {"properties": {f"p{number}": {"type": "string" * 100} for number in range(1_000)}}
    views, more = tools_of(with_tools(*({"name": f"t{number}", "inputSchema": many} for number in range(100))))
    assert (len(views), more) == (MAX_TOOLS, 100 - MAX_TOOLS)
    assert [len(parameters) for _, parameters, _ in views][:2] == [MAX_PARAMETERS] * 2
    assert sum(len(parameters) for _, parameters, _ in views) == MAX_ALL_PARAMETERS
    assert {len(parameters) + more for _, parameters, more in views} == {1_000}


def test_a_website_and_a_package_are_named_once(get_page: GetPage, server: Server) -> None:
    package = {"registryType": "npm", "identifier": "@acme/mail", "version": "1.0.0", "transport": {"type": "stdio"}}
    repository = {"url": "https://github.com/acme/mail.git", "source": "github"}
    values = {"repository": repository, "websiteUrl": "https://github.com/acme/mail/", "packages": [package, package]}
    mail = entry("io.github.acme/mail", "Reads mail.", **values)
    server.publish(mail)
    facts = Document(get_page(f"/servers/{mail.mcp_id}")).text.partition("Source code")[2]
    assert facts.count("@acme/mail 1.0.0") == 1
    assert "Website" not in facts


def test_versions_are_listed_latest_first(get_page: GetPage, server: Server) -> None:
    server.publish(*(version(number) for number in range(1, 4)), version(4, isLatest=True))
    page = Document(get_page(f"/servers/{version(1).mcp_id}")).text
    listed = page.rpartition("Versions")[2]
    assert listed.index("4.0.0") < listed.index("3.0.0") < listed.index("1.0.0")
    assert "2026-01-03" in listed
    assert listed.count("latest") == 1


def test_few_versions_are_listed_and_a_single_one_is_not(get_page: GetPage, server: Server) -> None:
    single = entry("io.github.example/single")
    server.publish(single, *(version(number) for number in range(1, 29)))
    assert "Versions" not in Document(get_page(f"/servers/{single.mcp_id}")).text
    page = Document(get_page(f"/servers/{version(1).mcp_id}")).text
    assert page.rpartition("Versions")[2].count(".0.0") == MAX_VERSIONS


def test_similar_servers_are_those_that_its_words_find(get_page: GetPage, server: Server) -> None:
    tags = {"_meta": {PUBLISHER: {"tags": ["calendar"]}}}
    similar = [entry(f"io.github.example/calendar-{number}", "Reads a calendar.", **tags) for number in range(9)]
    server.publish(*similar)
    page = Document(get_page(f"/servers/{similar[0].mcp_id}"))
    assert "Similar servers" in page.text
    found = {link for link in page.links if link.startswith("/servers/") and not link.endswith("/report")}
    assert len(found) == MAX_SIMILAR
    assert found <= {f"/servers/{each.mcp_id}" for each in similar[1:]}


@pytest.mark.parametrize(
    ("name", "tags", "words"),
    [
        ("io.github.example/postgres-mcp-server", ["sql", "SQL", "data base"], "postgres sql data base"),
        ("io.github.example/-x", ["auth:none", '"a b"', "-word", "runs:local"], "x auth none b word runs"),
        ("io.github.example/mcp", [], ""),
        ("io.github.example/" + "a-" * 90, ["b" * 5_000], "b" * 30),
    ],
)
def test_words_of_an_entry_are_no_filters(name: str, tags: list[str], words: str) -> None:
    found = similar_words(entry(name, _meta={PUBLISHER: {"tags": tags}}))
    assert found == words
    assert len(found.split()) <= SIMILAR_WORDS
    assert Query(found).keywords == found


def test_tags_begin_with_categories_and_end_with_words_of_tools() -> None:
    told = {"categories": ["Data"], "tags": ["create", "mcp-server", "sql", "Data", "list rows", *map(str, range(20))]}
    tools = [{"name": "create_table"}, {"name": "list-rows"}]
    labels = all_tags(entry("io.github.example/a", _meta={PUBLISHER: {**told, "tools": tools}}))
    assert labels == ["Data", "sql", *map(str, range(8))]
    few = {"tags": ["create", "sql"], "tools": tools}
    assert all_tags(entry("io.github.example/a", _meta={PUBLISHER: few})) == ["sql", "create"]


def test_an_entry_is_similar_by_half_of_the_words(get_page: GetPage, server: Server) -> None:
    tags = {PUBLISHER: {"tags": ["train", "times"]}}
    asked = entry("io.github.example/rail-plans", _meta=tags)
    half = entry("io.github.example/half", "Finds the times of a train.", title="Half of the words")
    less = entry("io.github.example/less", "Finds the times of buses and much more.", title="Less of the words")
    server.publish(asked, half, less)
    page = Document(get_page(f"/servers/{asked.mcp_id}")).text
    assert "Half of the words" in page
    assert "Less of the words" not in page
