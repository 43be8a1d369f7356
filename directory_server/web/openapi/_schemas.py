"""JSON Schemas (2020-12) of the REST API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import attrs

from ...client_config import Configuration, Input, Installation, Notice
from ...domain.changes import ChangeKind
from ...domain.entries import Detail, Tool
from ..health import NOT_READY_REASONS

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
_OBJECT: Schema = {"type": "object"}
_MCP_ID: Schema = {
    "type": "string",
    "format": "uuid",
    "description": "Id of an entry, the same in every directory: UUIDv5 of a published namespace and the name.",
    "examples": ["41d18bdd-f870-5370-a6db-68de9251dacf"],
}

_LISTED: dict[str, Schema] = {
    "name": {**TEXT, "description": "Title, or the registered name if there is no title."},
    "brief": {**TEXT, "description": "What the server does, in one sentence."},
    "website_url": {**TEXT, "description": "Website or repository; empty if neither is known."},
}

_CHANGE: dict[str, Schema] = {
    "seq": {**COUNT, "description": "Sequence number; it increases with each change."},
    "event": {"enum": [f"entry.{kind}" for kind in get_args(ChangeKind)]},
    "mcp_id": _MCP_ID,
}

_TYPES: dict[Any, Schema] = {
    str: TEXT,
    bool: {"type": "boolean"},
    int | None: {"type": ["integer", "null"]},
    str | None: {"type": ["string", "null"]},
    Sequence[str]: {"type": "array", "items": TEXT},
    Sequence[Tool]: {"type": "array", "items": {"$ref": "#/components/schemas/Tool"}},
    Sequence[Input]: {"type": "array", "items": {"$ref": "#/components/schemas/Input"}},
    Sequence[Configuration]: {"type": "array", "items": {"$ref": "#/components/schemas/Configuration"}},
    Sequence[Notice]: {"type": "array", "items": {"$ref": "#/components/schemas/Notice"}},
    Notice | None: {"oneOf": [{"$ref": "#/components/schemas/Notice"}, {"type": "null"}]},
    Sequence[Installation]: {"type": "array", "items": {"$ref": "#/components/schemas/Installation"}},
    Sequence[Mapping[str, Any]]: {"type": "array", "items": _OBJECT},
    Mapping[str, str]: {"type": "object", "additionalProperties": TEXT},
    Mapping[str, Any]: _OBJECT,
    Mapping[str, Any] | None: {"type": ["object", "null"]},
}
"""Schemas by the type of a field."""

_DESCRIPTIONS = {
    "server_name": "The registered name, such as io.github.crystaldba/postgres-mcp.",
    "version": "The version that this entry describes.",
    "descriptions": "Descriptions by language tag (BCP 47).",
    "tools": "Tools that the publisher declares.",
    "repository": "As in the server.json.",
    "packages": "Ways to run the server locally, as in the server.json.",
    "remotes": "URLs of the hosted server, as in the server.json.",
    "install": "Installation options, each with configurations to paste into editors.",
    "kind": "The registry type of the package, or the transport of the remote.",
    "inputs": "Values that the user provides.",
    "configurations": "One for each editor.",
    "warnings": "Notices to read before use.",
    "unavailable": "Reason for a missing configuration; null if there is one.",
    "note": "Message of unavailable; empty if there is a configuration.",
    "code": "Machine-readable code; it does not change.",
    "subject": "Part of the entry that the notice is about: publisher's text, at most 100 characters.",
    "message": "Human-readable text; it may change.",
    "required": "Whether the configurations contain it; other inputs are optional.",
    "secret": "Whether the value is secret.",
    "default": "Default value; empty if there is none.",
    "choices": "Allowed values; empty if any value is allowed.",
    "editor": "The editor's name.",
    "file": "Path of the editor's configuration file.",
    "config": "JSON of a configuration file with only this server.",
    "icons": "As in the server.json.",
    "status": "As in the entry's registry; active if it has none.",
    "official": "Whether the official registry lists the entry, according to a source that the operator trusts.",
    "published_at": "As in the entry's registry (RFC 3339).",
    "updated_at": "As in the entry's registry (RFC 3339).",
    "server": "The server.json document as published; empty if it is too large.",
    "omitted": "Fields that are shortened or omitted because the entry is too large.",
}


def schemas() -> dict[str, Schema]:
    """Return the schemas of the document, by name."""
    return {
        "Hit": {
            "type": "object",
            "description": "A matching entry: name, brief and website_url, or the requested fields.",
            "properties": {**_fields(Detail), **_LISTED, "mcp_id": _MCP_ID},
        },
        "SearchPage": _record(
            {"data": _many("Hit"), "count": {**COUNT, "description": "The number of entries in data."}}
        ),
        "Tool": _record(_fields(Tool)),
        "Input": _record(_fields(Input)),
        "Configuration": _record(_fields(Configuration)),
        "Notice": _record(_fields(Notice)),
        "Installation": _record(_fields(Installation)),
        "Detail": _record({**_fields(Detail), **_LISTED, "mcp_id": _MCP_ID}),
        # A removed entry has only its id.
        "Change": {**_record({**_CHANGE, **_LISTED}), "required": list(_CHANGE)},
        "ChangesPage": _record(
            {
                "data": _many("Change"),
                "count": {**COUNT, "description": "The number of changes in data."},
                "next": {**TEXT, "description": "Value of since for the next page, now or later."},
            }
        ),
        "Health": _record({"status": {"const": "ok"}, "entries": COUNT, "generation": COUNT}),
        "Ready": _record({"status": {"const": "ready"}}),
        "NotReady": _record(
            {
                "status": {"const": "unavailable"},
                "reasons": {"type": "array", "items": {"enum": list(NOT_READY_REASONS)}},
            }
        ),
        "Description": {**_OBJECT, "required": ["openapi", "info", "paths"]},
        "Error": _record(
            {
                "error": {**TEXT, "description": "Machine-readable code; it does not change."},
                "message": {**TEXT, "description": "Human-readable message; it may change."},
            }
        ),
    }


def mcp_id() -> Schema:
    """Return the schema of an entry's id."""
    return _MCP_ID


def _record(properties: Mapping[str, Schema]) -> Schema:
    return {"type": "object", "properties": dict(properties), "required": list(properties)}


def _many(name: str) -> Schema:
    return {"type": "array", "items": {"$ref": f"#/components/schemas/{name}"}}


def _fields(of: type[attrs.AttrsInstance]) -> dict[str, Schema]:
    described = {
        field.name: {"description": _DESCRIPTIONS[field.name]}
        for field in attrs.fields(of)
        if field.name in _DESCRIPTIONS
    }
    return {
        field.name: {**_TYPES[field.type], **described.get(field.name, {})}
        for field in attrs.fields(attrs.resolve_types(of))
    }
