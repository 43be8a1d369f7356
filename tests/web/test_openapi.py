"""The description of the REST door: valid, complete, true to what the code does, and with examples that hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import attrs
import pytest
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator, validate

from directory_server import serialization
from directory_server.domain.entries import Detail

from .conftest import POSTGRES_ID, Server
from .test_every_route import DOORS

PATH = "/api/open/openapi.json"


@pytest.fixture
def described(server: Server) -> Any:
    return server.get(PATH, key=None).json


def operations(described: Any) -> Iterator[tuple[str, Any]]:
    for path, methods in described["paths"].items():
        yield path, methods["get"]


def fits(value: Any, schema: Any, described: Any) -> None:
    """Assert that `value` is what `schema` says, in which others may be named."""
    OAS31Validator({**schema, "components": described["components"]}).validate(value)


def test_it_is_openapi_3_1(described: Any) -> None:
    validate(described, cls=OpenAPIV31SpecValidator)
    assert described["openapi"].startswith("3.1")


OTHERS = {"/api/open/mcp", "/", "/servers/{mcp_id}", "/news", "/assets/{name}"}
"""What else is answered with GET: another protocol, and what is for people."""


def test_it_has_every_rest_door_and_no_other(described: Any) -> None:
    rest = {door.path for door in DOORS.values() if door.method == "GET" and door.path not in OTHERS}
    # The registry API is described by the official registry.
    rest = {path for path in rest if not path.startswith(("/account/", "/v0/", "/v0.1/", "/r/"))}
    assert set(described["paths"]) == rest


def test_it_says_where_a_key_is_needed(described: Any) -> None:
    keyed = {path for path, operation in operations(described) if operation.get("security") != []}
    assert keyed == {door.path for door in DOORS.values() if door.keyed and door.path in described["paths"]}


def test_a_person_is_told_what_everything_is(described: Any) -> None:
    for _, operation in operations(described):
        assert operation["summary"]
        assert operation["description"]
        assert all(parameter["description"] for parameter in operation.get("parameters", ()))
        assert all(answer["description"] for answer in operation["responses"].values())


def test_limits_are_those_of_the_code(described: Any) -> None:
    search = {each["name"]: each["schema"] for each in described["paths"]["/api/open/v1/search"]["get"]["parameters"]}
    changes = {each["name"]: each["schema"] for each in described["paths"]["/api/open/v1/changes"]["get"]["parameters"]}
    assert search["limit"]["maximum"] == serialization.MAX_LIMIT
    assert search["keywords"]["maxLength"] == serialization.MAX_KEYWORDS
    assert changes["limit"] == {"type": "integer", "minimum": 1, "maximum": serialization.MAX_CHANGES, "default": 100}


@pytest.mark.parametrize(("name", "bound"), [("limit", "maximum"), ("keywords", "maxLength")])
def test_the_bounds_are_the_last_that_hold(server: Server, described: Any, name: str, bound: str) -> None:
    _, key = server.new_key(limit=None)
    for path in ("/api/open/v1/search", "/api/open/v1/changes"):
        (schema,) = (each["schema"] for each in described["paths"][path]["get"]["parameters"] if each["name"] == name)
        for number, status in ((schema[bound], 200), (schema[bound] + 1, 400)):
            query = f"keywords=a&limit={number}" if name == "limit" else f"keywords={'a' * number}"
            assert server.get(f"{path}?{query}", key=key, headers={"Accept": "application/json"}).status == status


def test_answers_are_as_described(server: Server, described: Any) -> None:
    asked = {
        "/api/open/v1/search": "/api/open/v1/search?keywords=postgres",
        "/api/open/v1/entries/{mcp_id}": f"/api/open/v1/entries/{POSTGRES_ID}",
        "/api/open/v1/changes": "/api/open/v1/changes",
        "/healthz": "/healthz",
        "/readyz": "/readyz",
        PATH: PATH,
    }
    for path, operation in operations(described):
        answer = server.get(asked[path], headers={"Accept": "application/json"})
        assert answer.status == 200
        good = operation["responses"]["200"]
        fits(answer.json, good["content"]["application/json"]["schema"], described)
        # Where nothing follows there is no link.
        assert [name for name in good["headers"] if name not in answer.headers] == ["Link"] * (
            "Link" in good["headers"]
        )


@pytest.mark.parametrize("accept", ["*/*", "application/json, text/event-stream", "application/json"])
def test_the_request_of_a_generated_client_is_answered_as_described(
    server: Server, described: Any, accept: str
) -> None:
    """Such clients send what is required, and each default that a parameter has."""
    for path, operation in operations(described):
        parameters = [each for each in operation.get("parameters", ()) if each["in"] == "query"]
        sent = {
            each["name"]: each["schema"].get("default", each["schema"].get("examples", [None])[0])
            for each in parameters
            if each.get("required") or "default" in each["schema"]
        }
        url = f"{path.format(mcp_id=POSTGRES_ID)}?{urlencode(sent)}".rstrip("?")
        answer = server.get(url, headers={"Accept": accept})
        assert answer.status == 200, answer.json
        fits(answer.json, operation["responses"]["200"]["content"]["application/json"]["schema"], described)


def test_an_entry_has_just_these_fields(described: Any) -> None:
    assert set(described["components"]["schemas"]["Detail"]["properties"]) == {
        each.name for each in attrs.fields(Detail)
    }


def test_examples_are_as_described(described: Any) -> None:
    for _, operation in operations(described):
        for answer in operation["responses"].values():
            content = answer["content"]["application/json"]
            examples = [each["value"] for each in content.get("examples", {}).values()]
            for example in [*examples, *([content["example"]] if "example" in content else [])]:
                fits(example, content["schema"], described)
        for parameter in operation.get("parameters", ()):
            for example in parameter["schema"].get("examples", ()):
                fits(example, parameter["schema"], described)


def test_refusals_are_under_the_status_that_they_get(server: Server, described: Any) -> None:
    search = described["paths"]["/api/open/v1/search"]["get"]["responses"]
    codes = {
        status: set(answer["content"]["application/json"]["examples"])
        for status, answer in search.items()
        if status != "200"
    }
    for path, key in ((f"?keywords=a&key={server.key}", ""), ("?limit=0", ""), ("?keywords=a", None)):
        refused = server.get(f"/api/open/v1/search{path}", key=key)
        assert refused.json["error"] in codes[str(refused.status)]


def test_no_text_names_what_is_not_there(described: Any) -> None:
    for name in re.findall(r"#/components/(\w+/[\w-]+)", str(described)):
        kind, _, which = name.partition("/")
        assert which in described["components"][kind]
