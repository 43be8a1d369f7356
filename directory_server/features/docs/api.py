"""The OpenAPI document on pages: its operations and schemas, and how templates write their types and texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

from attrs import frozen
from markupsafe import Markup, escape

_SCHEMA = "#/components/schemas/"

Operation = tuple[str, str, Mapping[str, Any]]
"""The path of an operation, its method in upper case, and what the document has of it."""


@frozen
class Api:
    """A part of the API, on one page.

    `description` has one paragraph for each item. `objects` is the path of the page with the objects that the
    operations name, empty for this page.
    """

    description: Sequence[str]
    operations: Sequence[Operation]
    schemas: Mapping[str, Mapping[str, Any]]
    objects: str = ""


@frozen
class ApiPages:
    """The pages of the API: operations of readers, their objects, and all of publishers. Each is below 30 KB."""

    operations: Api
    objects: Api
    publishing: Api


def api_pages(document: Mapping[str, Any], objects: str) -> ApiPages:
    """Return the pages of an OpenAPI 3.1 document. `objects` is the path of the page of objects."""
    schemas: Mapping[str, Any] = document["components"]["schemas"]
    operations = [
        (path, method.upper(), {"security": document["security"], **operation})
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    description = document["info"]["description"].strip().split("\n\n")
    publishing = _schema_names(document, [item for path, item in document["paths"].items() if _is_publishing(path)])
    reading = _schema_names(document, [item for path, item in document["paths"].items() if not _is_publishing(path)])
    of_publishers = {name: schema for name, schema in schemas.items() if name in publishing}
    # Some are those of readers, too: each page has all that it links.
    others = {name: schema for name, schema in schemas.items() if name in reading or name not in publishing}
    return ApiPages(
        operations=Api(
            description, [operation for operation in operations if not _is_publishing(operation[0])], {}, objects
        ),
        objects=Api((), (), others),
        publishing=Api(
            description, [operation for operation in operations if _is_publishing(operation[0])], of_publishers
        ),
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


def example_path(path: str, operation: Mapping[str, Any]) -> str:
    """Return the path and query of an operation, with examples of its required parameters and of `fields`."""
    query = []
    for parameter in operation.get("parameters", ()):
        name, example = parameter["name"], next(iter(parameter["schema"].get("examples", ())), "")
        text = ",".join(example) if isinstance(example, list) else str(example)
        if parameter["in"] == "path" and text:
            path = path.replace(f"{{{name}}}", quote(text))
        elif parameter["in"] == "query" and (parameter.get("required") or name == "fields"):
            query.append((name, text))
    return f"{path}?{urlencode(query, safe=',')}" if query else path


def body_of(response: Mapping[str, Any]) -> str:
    """Return the name of the schema of a response, empty if it has none."""
    schemas = (kind_of(content.get("schema", {}))[1] for content in response.get("content", {}).values())
    return next(filter(None, schemas), "")


@cache
def inline(text: str) -> Markup:
    """Return a text of the document, in which backquotes mark code, as HTML."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def kind_of(schema: Mapping[str, Any]) -> tuple[str, str]:
    """Return the type of `schema` in words, and the name of the schema that it refers to, or an empty text."""
    if reference := schema.get("$ref"):
        name = str(reference).removeprefix(_SCHEMA)
        return name, name
    for key in ("anyOf", "oneOf"):
        if key in schema:
            kinds = [kind_of(branch) for branch in schema[key]]
            return " or ".join(kind for kind, _ in kinds), next((link for _, link in kinds if link), "")
    type_ = schema.get("type", "string" if "enum" in schema else "any")
    types = [type_] if isinstance(type_, str) else list(type_)
    if "array" in types and "items" in schema:
        kind, link = kind_of(schema["items"])
        return " or ".join([f"list of {kind}", *(name for name in types if name != "array")]), link
    return " or ".join(types), ""
