"""OpenAPI document: valid, complete, equal to the limits of the code, with valid examples."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator, validate

from ..features.publishing.conftest import new_publisher
from .conftest import POSTGRES_ID, Server
from .test_every_route import ENDPOINTS

PATH = "/api/open/openapi.json"


@pytest.fixture
def document(server: Server) -> Any:
    return server.get(PATH, key=None).json


def operations(document: Any) -> Iterator[tuple[str, Any]]:
    """Yield the operations that read; those of publishers are below."""
    for path, methods in document["paths"].items():
        if "get" in methods:
            yield path, methods["get"]


def writing_operations(document: Any) -> Iterator[tuple[str, str, Any]]:
    for path, methods in document["paths"].items():
        yield from ((method.upper(), path, operation) for method, operation in methods.items() if method != "get")


def assert_valid(value: Any, schema: Any, document: Any) -> None:
    """Assert that `value` is valid under `schema`, which may refer to other schemas of the document."""
    OAS31Validator({**schema, "components": document["components"]}).validate(value)


def test_it_is_openapi_3_1(document: Any) -> None:
    validate(document, cls=OpenAPIV31SpecValidator)
    assert document["openapi"].startswith("3.1")


OWN_REGISTRY_READS = {"/v0.1/dump.jsonl.gz", "/v0.1/dump.jsonl.gz.sha256", "/v0.1/claude/marketplace.json"}
"""What the official registry does not have. Its own document describes how its API is read."""


def test_the_document_has_every_rest_path_and_no_other(document: Any) -> None:
    rest = {
        endpoint.path
        for endpoint in ENDPOINTS.values()
        if endpoint.method == "GET" and endpoint.api in ("REST", "status")
    }
    assert {path for path, _ in operations(document)} == rest | OWN_REGISTRY_READS


def test_the_document_marks_the_operations_that_need_a_key(document: Any) -> None:
    keyed = {path for path, operation in operations(document) if operation.get("security") != []}
    assert keyed == {
        endpoint.path for endpoint in ENDPOINTS.values() if endpoint.keyed and endpoint.path in document["paths"]
    }


def test_everything_has_a_description(document: Any) -> None:
    for _, operation in operations(document):
        assert operation["summary"]
        assert operation["description"]
        assert all(parameter["description"] for parameter in operation.get("parameters", ()))
        assert all(response["description"] for response in operation["responses"].values())
    for name, schema in document["components"]["schemas"].items():
        for field, member in schema.get("properties", {}).items():
            assert member.keys() & {"description", "enum", "$ref"}, f"{name}.{field}"


@pytest.mark.parametrize(("name", "bound"), [("limit", "maximum"), ("keywords", "maxLength")])
def test_the_documented_bound_is_the_last_accepted_value(server: Server, document: Any, name: str, bound: str) -> None:
    _, key = server.new_key(limit=None)
    for path in ("/api/open/v1/search", "/api/open/v1/changes"):
        (schema,) = (each["schema"] for each in document["paths"][path]["get"]["parameters"] if each["name"] == name)
        for number, status in ((schema[bound], 200), (schema[bound] + 1, 400)):
            query = f"keywords=a&limit={number}" if name == "limit" else f"keywords={'a' * number}"
            assert server.get(f"{path}?{query}", key=key, headers={"Accept": "application/json"}).status == status


@pytest.mark.parametrize("accept", ["*/*", "application/json, text/event-stream", "application/json"])
def test_responses_to_a_generated_client_match_their_schemas(server: Server, document: Any, accept: str) -> None:
    """A generated client sends all required parameters, and all defaults."""
    for path, operation in operations(document):
        parameters = [each for each in operation.get("parameters", ()) if each["in"] == "query"]
        sent = {
            each["name"]: each["schema"].get("default", each["schema"].get("examples", [None])[0])
            for each in parameters
            if each.get("required") or "default" in each["schema"]
        }
        url = f"{path.format(mcp_id=POSTGRES_ID)}?{urlencode(sent)}".rstrip("?")
        response = server.get(url, headers={"Accept": accept})
        assert response.status == 200, response.body
        content = operation["responses"]["200"]["content"]
        assert str(response.headers["Content-Type"]).partition(";")[0] in content
        if "application/json" in content:
            assert_valid(response.json, content["application/json"]["schema"], document)


def test_examples_match_their_schemas(document: Any) -> None:
    for _, operation in operations(document):
        for response in operation["responses"].values():
            content = response.get("content", {}).get("application/json", {})
            examples = [each["value"] for each in content.get("examples", {}).values()]
            for example in [*examples, *([content["example"]] if "example" in content else [])]:
                assert_valid(example, content["schema"], document)
        for parameter in operation.get("parameters", ()):
            for example in parameter["schema"].get("examples", ()):
                assert_valid(example, parameter["schema"], document)


def test_errors_are_documented_under_their_status(server: Server, document: Any) -> None:
    search = document["paths"]["/api/open/v1/search"]["get"]["responses"]
    codes = {
        status: set(response["content"]["application/json"]["examples"])
        for status, response in search.items()
        if status != "200"
    }
    for path, key in ((f"?keywords=a&key={server.key}", ""), ("?limit=0", ""), ("?keywords=a", None)):
        response = server.get(f"/api/open/v1/search{path}", key=key)
        assert response.json["error"] in codes[str(response.status)]


LOGINS = ("github-oidc", "oidc", "dns", "http")


def test_the_document_has_the_operations_of_publishers(document: Any) -> None:
    written = {
        (endpoint.method, endpoint.path.replace("*", "{name}").replace("{method}", method))
        for endpoint in ENDPOINTS.values()
        for method in ("github-at", *LOGINS)
        # What is answered with 501 is no operation of this server, and git is not described by OpenAPI.
        if endpoint.path.startswith("/v0.1/") and endpoint.method != "GET" and endpoint.status != 501
        if not endpoint.path.endswith("/git-upload-pack")
    }
    assert {(method, path) for method, path, _ in writing_operations(document)} == written


def test_requests_and_responses_of_publishers_match_their_schemas(server: Server, document: Any) -> None:
    publisher = new_publisher(server, "io.acme/*")
    schemas = document["components"]["schemas"]
    # In the order of the document, in which a version is published before its status changes.
    for method, path, operation in writing_operations(document):
        content = operation["requestBody"]["content"]["application/json"]
        assert_valid(content["example"], content["schema"], document)
        body = {"github_token": publisher.secret} if path.endswith("github-at") else content["example"]
        body = {"status": "deleted"} if path.endswith("{name}/status") else body
        target = path.format(name="io.acme%2Fweather", version="1.0.0")
        response = publisher.send(method, target, body)
        if path.rpartition("/")[2] in LOGINS:
            # These are off in the server of tests.
            assert response.status == 404
            continue
        assert response.status == 200, response.body
        assert_valid(response.json, operation["responses"]["200"]["content"]["application/json"]["schema"], document)
        secured = operation["security"] == [{"publisher": []}]
        rejected = server.request(method, target, key=None, body=json.dumps(body).encode())
        assert (rejected.status == 401) is secured
        for error in operation["responses"].values():
            for kind, described in error["content"].items():
                if kind == "application/problem+json":
                    assert_valid(
                        described.get("example", {"title": "x", "status": 1, "detail": ""}),
                        schemas["Problem"],
                        document,
                    )
