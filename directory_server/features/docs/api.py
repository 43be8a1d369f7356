"""View of the OpenAPI document: operations and schemas as tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from attrs import frozen
from markupsafe import Markup, escape

_SCHEMA = "#/components/schemas/"


@frozen
class Field:
    """A row: a parameter or a member of an object. `link` is the schema of its type, or empty."""

    name: str
    kind: str
    link: str
    required: bool
    description: Markup


@frozen
class Response:
    """A response: status, description, and the schema of its body, or empty."""

    status: str
    description: Markup
    schema: str


@frozen
class Operation:
    """An operation of the API. `path` is a template; `query` has examples of the required parameters in the URL."""

    id: str
    method: str
    path: str
    query: str
    summary: str
    description: Markup
    needs_key: bool
    parameters: Sequence[Field]
    responses: Sequence[Response]


@frozen
class Schema:
    """An object of the API; without `fields`, its members are not described."""

    name: str
    fields: Sequence[Field]
    kind: str


@frozen
class Api:
    """A part of the API, on one page.

    `description` has one paragraph for each item. `objects` is the path of the page with the objects that the
    operations name, empty for this page.
    """

    description: Sequence[Markup]
    operations: Sequence[Operation]
    schemas: Sequence[Schema]
    objects: str = ""


@frozen
class ApiPages:
    """The pages of the API: operations of readers, their objects, and all of publishers. Each is below 30 KB."""

    operations: Api
    objects: Api
    publishing: Api


def api_pages(document: Mapping[str, Any], objects: str) -> ApiPages:
    """Return the pages of an OpenAPI 3.1 document. `objects` is the path of the page of objects."""
    schemas = [
        (name, Schema(name, list(_members(schema)), _kind(schema)[0]))
        for name, schema in document["components"]["schemas"].items()
    ]
    operations = list(_operations(document))
    description = [_inline(text) for text in document["info"]["description"].strip().split("\n\n")]
    publishing = _schema_names(document, [item for path, item in document["paths"].items() if _is_publishing(path)])
    of_readers = [operation for operation in operations if not _is_publishing(operation.path)]
    of_publishers = [operation for operation in operations if _is_publishing(operation.path)]
    return ApiPages(
        operations=Api(description, of_readers, (), objects),
        objects=Api((), (), [schema for name, schema in schemas if name not in publishing]),
        publishing=Api(description, of_publishers, [schema for name, schema in schemas if name in publishing]),
    )


def _is_publishing(path: str) -> bool:
    """Return whether `path` is one of the registry API, of which the document has the operations of publishers."""
    return path.startswith("/v0.1/")


def _schema_names(document: Mapping[str, Any], value: object) -> Collection[str]:
    """Return the names of the schemas that `value` refers to, directly or through others."""
    names: set[str] = set()
    waiting = [value]
    while waiting:
        match waiting.pop():
            case {"$ref": str(reference)} if reference.startswith(_SCHEMA):
                name = reference.removeprefix(_SCHEMA)
                waiting += [] if name in names else [document["components"]["schemas"][name]]
                names.add(name)
            case dict(members):
                waiting += members.values()
            case list(items):
                waiting += items
    return names


def _operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            parameters = operation.get("parameters", ())
            required = [
                parameter for parameter in parameters if parameter["in"] == "query" and parameter.get("required")
            ]
            yield Operation(
                operation["operationId"],
                method.upper(),
                path,
                urlencode([(each["name"], each["schema"]["examples"][0]) for each in required]),
                operation["summary"],
                _inline(operation["description"]),
                bool(operation.get("security", document["security"])),
                [_field(parameter["name"], parameter["schema"], parameter) for parameter in parameters],
                [_response(status, each) for status, each in operation["responses"].items()],
            )


def _members(schema: Mapping[str, Any]) -> Iterator[Field]:
    required = schema.get("required", ())
    for name, member in schema.get("properties", {}).items():
        yield _field(name, member, {**member, "required": name in required})


def _field(name: str, schema: Mapping[str, Any], described: Mapping[str, Any]) -> Field:
    kind, link = _kind(schema)
    return Field(name, kind, link, described.get("required", False), _inline(described.get("description", "")))


def _response(status: str, response: Mapping[str, Any]) -> Response:
    schemas = (_kind(content.get("schema", {}))[1] for content in response.get("content", {}).values())
    return Response(status, _inline(response["description"]), next(filter(None, schemas), ""))


def _inline(text: str) -> Markup:
    """Return `text`, in which backquotes mark code, as HTML."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _kind(schema: Mapping[str, Any]) -> tuple[str, str]:
    """Return the type of `schema` in words, and the name of the schema that it refers to, or an empty text."""
    if reference := schema.get("$ref"):
        name = str(reference).removeprefix(_SCHEMA)
        return name, name
    for key in ("anyOf", "oneOf"):
        if key in schema:
            kinds = [_kind(each) for each in schema[key]]
            return " or ".join(kind for kind, _ in kinds), next((link for _, link in kinds if link), "")
    type_ = schema.get("type", "string" if "enum" in schema else "any")
    types = [type_] if isinstance(type_, str) else list(type_)
    if "array" in types and "items" in schema:
        kind, link = _kind(schema["items"])
        return " or ".join([f"list of {kind}", *(each for each in types if each != "array")]), link
    return " or ".join(types), ""
