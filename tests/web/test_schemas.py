"""Compare real responses with the schemas that REST and MCP publish: the same fields in both, and none missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from openapi_schema_validator import OAS31Validator

import directory_server
from directory_server.client_config import Configuration, Input, Installation, Notice
from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry
from directory_server.domain.views import Detail, Tool

from .conftest import Server

OPTIONAL = (
    *("vendor", "trust", "flags", "auth", "runs", "installable", "stars", "updated"),
    *("status", "status_message", "ends", "matches", "matching_tools", "used_by"),
)
"""Fields that not all hits of search_mcp have."""

REFERENCE = "#/components/schemas/"


@pytest.fixture
def schemas(server: Server) -> Any:
    """The schemas of the OpenAPI document, by name."""
    return server.get("/api/open/openapi.json", key=None).json["components"]["schemas"]


@pytest.fixture
def tools(server: Server) -> Any:
    """The listed tools, by name."""
    response = server.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).json
    return {tool["name"]: tool for tool in response["result"]["tools"]}


def differences(value: Any, schema: Any, schemas: Any, path: str = "$") -> Iterator[str]:
    """Yield the members that only `value` or only `schema` has, in objects whose schema has properties."""
    for each in (schema, *schema.get("oneOf", ())):
        if "$ref" in each and value is not None:
            yield from differences(value, schemas[each["$ref"].removeprefix(REFERENCE)], schemas, path)
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from differences(item, schema.get("items", {}), schemas, f"{path}[{number}]")
    elif isinstance(value, dict) and "properties" in schema:
        for name in sorted(value.keys() ^ schema["properties"].keys()):
            yield f"{path}.{name}"
        for name in value.keys() & schema["properties"].keys():
            yield from differences(value[name], schema["properties"][name], schemas, f"{path}.{name}")


def assert_valid(value: Any, schema: Any, schemas: Any) -> None:
    OAS31Validator({**schema, "components": {"schemas": schemas}}).validate(value)


WEATHER = Entry(
    {
        "name": "io.github.example/weather",
        "version": "1.0.0",
        "description": "Weather.",
        "packages": [
            {
                "registryType": "npm",
                "identifier": "@example/weather",
                "version": "1.0.0",
                "transport": {"type": "stdio"},
                "environmentVariables": [{"name": "WEATHER_KEY", "description": "Your key", "isSecret": True}],
            },
            {"registryType": "unknown", "identifier": "weather", "transport": {"type": "stdio"}},
        ],
        "remotes": [{"type": "streamable-http", "url": "http://weather.example.org/mcp"}],
        "_meta": {PUBLISHER: {"tools": [{"name": "forecast"}], "descriptions": {"zh": "天气"}}},
    }
)
"""An entry whose detail has every object: tools, inputs, configurations, a warning and a reason."""


KEYLESS = Entry(
    {
        "name": "org.airships.zeppelins/zeppelins",
        "version": "1.0.0",
        "title": "Zeppelins",
        "description": "Zeppelins. No API key needed, runs locally.",
        "websiteUrl": "https://zeppelins.example.org",
        "packages": [
            {
                "registryType": "npm",
                "identifier": "@airships/zeppelins",
                "version": "1.0.0",
                "transport": {"type": "stdio"},
            }
        ],
        "_meta": {PUBLISHER: {"stars": 7}},
    },
    {OFFICIAL: {"updatedAt": "2026-05-11T10:00:00Z"}},
    is_official=True,
)
"""An entry whose hit has all optional fields of an active entry that was not checked."""


def test_a_detail_has_exactly_the_fields_of_both_schemas(server: Server, schemas: Any, tools: Any) -> None:
    server.publish(WEATHER)
    rest = server.get(f"/api/open/v1/entries/{WEATHER.mcp_id}").json
    every = {"mcp_id": WEATHER.mcp_id, "fields": ",".join(rest)}
    mcp = server.call("get_mcp_detail", every)["structuredContent"]
    assert mcp == {"success": True, "data": rest}
    remote, npm, unknown = rest["install"]
    assert all((rest["tools"], remote["warnings"], npm["inputs"], npm["configurations"], unknown["unavailable"]))
    assert_valid(rest, schemas["Detail"], schemas)
    assert list(differences(rest, schemas["Detail"], schemas)) == []
    assert_valid(mcp, tools["get_mcp_detail"]["outputSchema"], schemas)


def test_a_detail_for_models_is_short(server: Server, tools: Any) -> None:
    server.publish(WEATHER)
    rest = server.get(f"/api/open/v1/entries/{WEATHER.mcp_id}").json
    result = server.call("get_mcp_detail", {"mcp_id": WEATHER.mcp_id, "editor": "cursor"})["structuredContent"]
    assert_valid(result, tools["get_mcp_detail"]["outputSchema"], {})
    detail = result["data"]
    assert detail["tools"] == [tool["name"] for tool in rest["tools"]]
    assert not {"server", "packages", "remotes", "icons"} & detail.keys()
    assert not [name for name, value in detail.items() if value in ("", None, [], {})]
    of_cursor = [
        configuration["config"]
        for way in rest["install"]
        for configuration in way["configurations"]
        if configuration["editor"] == "Cursor"
    ]
    assert [way["config"] for way in detail["install"] if "config" in way] == of_cursor
    other = server.call("get_mcp_detail", {"mcp_id": WEATHER.mcp_id, "editor": "gemini"})["structuredContent"]["data"]
    assert {way["editor"] for way in other["install"] if "config" in way} == {"Gemini CLI"}


def test_a_configuration_for_models_has_no_place_for_a_secret(server: Server) -> None:
    secret = {"name": "WEATHER_KEY", "isRequired": True, "isSecret": True}
    package = {"registryType": "npm", "identifier": "weather-mcp", "version": "1.0.0", "transport": {"type": "stdio"}}
    keyed = Entry(
        {
            "name": "io.acme/keyed",
            "description": "Forecasts.",
            "version": "1.0.0",
            "packages": [{**package, "environmentVariables": [secret]}],
        }
    )
    server.publish(keyed)
    [way] = server.call("get_mcp_detail", {"mcp_id": keyed.mcp_id})["structuredContent"]["data"]["install"]
    [item] = way["inputs"]
    assert (way["file"], item["variable"].endswith("_WEATHER_KEY")) == (".mcp.json", True)
    [definition] = way["config"]["mcpServers"].values()
    assert definition["env"] == {"WEATHER_KEY": f"${{{item['variable']}}}"}
    assert f"'WEATHER_KEY=${{{item['variable']}}}'" in way["command"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"editor": "emacs"}, "editor: must be one of vscode, cursor"),
        ({"fields": "server,nope"}, "fields: unknown field 'nope'"),
        ({"fields": "matching_tools"}, "fields: matching_tools is a field of searches"),
    ],
)
def test_wrong_arguments_of_a_detail_are_named(server: Server, arguments: Any, message: str) -> None:
    result = server.call("get_mcp_detail", {"mcp_id": KEYLESS.mcp_id, **arguments})
    assert result["isError"]
    assert message in result["content"][0]["text"]


def test_the_list_of_tools_is_short(server: Server) -> None:
    listed = server.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert len(listed.body) <= 5_000


def test_a_hit_of_a_tool_has_exactly_the_fields_of_its_schema(server: Server, schemas: Any, tools: Any) -> None:
    server.publish(KEYLESS)
    result = server.call("search_mcp", {"keywords": "zeppelins without API key"})["structuredContent"]
    schema = tools["search_mcp"]["outputSchema"]
    (hit,) = result["data"]
    assert (hit["auth"], hit["runs"], hit["matches"]) == ("none", ["local"], "no key needed")
    assert (hit["vendor"], hit["installable"], hit["stars"], hit["updated"]) == (True, True, 7, "2026-05")
    assert_valid(result, schema, schemas)
    # The entry was not checked, is active and has no flags.
    absent = ("used_by", "status", "status_message", "ends", "flags", "matching_tools")
    missing = {"$.message", "$.searched_for", *(f"$.data[0].{field}" for field in absent)}
    assert set(differences(result, schema, schemas)) == missing


def test_facts_and_reasons_of_a_hit_are_optional(server: Server, schemas: Any, tools: Any) -> None:
    result = server.call("search_mcp", {"keywords": "postgres"})["structuredContent"]
    schema = tools["search_mcp"]["outputSchema"]
    assert_valid(result, schema, schemas)
    assert set(differences(result, schema, schemas)) == {
        "$.message",
        "$.searched_for",
        *(f"$.data[0].{each}" for each in OPTIONAL),
    }
    assert_valid(server.call("search_mcp", {"keywords": "zzzqqq"})["structuredContent"], schema, schemas)


def test_a_search_with_all_fields_has_exactly_those_of_the_schema(server: Server, schemas: Any) -> None:
    fields = ",".join(schemas["Hit"]["properties"])
    # Of more than 256 characters, the response says what was searched.
    page = server.get(f"/api/open/v1/search?keywords={'postgres+' * 30}&fields={fields}").json
    assert page["data"]
    assert_valid(page, schemas["SearchPage"], schemas)
    assert list(differences(page, schemas["SearchPage"], schemas)) == []


def test_changes_have_exactly_the_fields_of_the_schema(server: Server, schemas: Any) -> None:
    page = server.get("/api/open/v1/changes").json
    assert page["data"]
    assert_valid(page, schemas["ChangesPage"], schemas)
    # No entry was checked or flagged.
    assert all(each.endswith((".verified", ".flags")) for each in differences(page, schemas["ChangesPage"], schemas))


def test_an_error_has_exactly_the_fields_of_the_schema(server: Server, schemas: Any) -> None:
    error = server.get("/api/open/v1/search").json
    assert_valid(error, schemas["Error"], schemas)
    assert list(differences(error, schemas["Error"], schemas)) == []


def test_hits_of_rest_and_mcp_have_fields_of_equal_types(schemas: Any, tools: Any) -> None:
    rest = schemas["Detail"]["properties"] | schemas["Hit"]["properties"]
    hit = tools["search_mcp"]["outputSchema"]["properties"]["data"]["items"]["properties"]
    assert {
        name for name, schema in hit.items() if name in rest and schema["type"] not in rest[name].get("type", "")
    } == {"ends"}
    assert rest["ends"]["oneOf"][0] == {"$ref": "#/components/schemas/EndOfLife"}
    assert hit.keys() - rest.keys() == {"updated", "matches", "used_by"}


def test_rest_and_mcp_have_the_same_limits_of_arguments(server: Server, tools: Any) -> None:
    operation = server.get("/api/open/openapi.json", key=None).json["paths"]["/api/open/v1/search"]["get"]
    rest = {each["name"]: each for each in operation["parameters"]}
    arguments = tools["search_mcp"]["inputSchema"]
    assert arguments["required"] == [name for name, each in rest.items() if each.get("required")]
    for name, schema in arguments["properties"].items():
        for keyword in ("minimum", "maximum", "default", "minLength", "maxLength"):
            assert schema.get(keyword) == rest[name]["schema"].get(keyword)


@pytest.mark.parametrize("of", [Detail, Tool, Installation, Input, Configuration, Notice])
def test_the_documented_fields_are_those_of_the_class(schemas: Any, of: type) -> None:
    assert list(schemas[of.__name__]["properties"]) == [each.name for each in attrs.fields(of)]


def test_only_the_mcp_package_names_tools(tools: Any) -> None:
    """A REST caller must not be told to use a tool."""
    package = Path(directory_server.__file__).parent
    modules = {path: path.read_text("utf-8") for path in package.rglob("*.py")}
    named = {path.relative_to(package).parent for path, text in modules.items() if any(tool in text for tool in tools)}
    assert named == {Path("web/mcp")}
