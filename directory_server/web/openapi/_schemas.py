"""What goes in and out of the REST door, as JSON Schema (2020-12)."""

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
    "description": "The id of an entry, the same in every directory: UUIDv5 of a published namespace and the name.",
    "examples": ["41d18bdd-f870-5370-a6db-68de9251dacf"],
}

_LISTED: dict[str, Schema] = {
    "name": {**TEXT, "description": "The title, or the registered name where there is no title."},
    "brief": {**TEXT, "description": "What the server does, in a sentence."},
    "website_url": {**TEXT, "description": "The website, or the repository; empty where neither is known."},
}

_CHANGE: dict[str, Schema] = {
    "seq": {**COUNT, "description": "Larger with each change."},
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
"""The types that fields of the model have."""

_SAID = {
    "server_name": "The registered name, such as io.github.crystaldba/postgres-mcp.",
    "version": "The version that is shown.",
    "descriptions": "Descriptions by language tag (BCP 47).",
    "tools": "The tools that the entry says it has.",
    "repository": "As in the server.json.",
    "packages": "Ways to run the server locally, as in the server.json.",
    "remotes": "URLs at which the server is offered, as in the server.json.",
    "install": "Ways to have the server, each with what to paste into editors.",
    "kind": "The registry type of the package, or the transport of the remote.",
    "inputs": "What is to be filled in.",
    "configurations": "One for each editor.",
    "warnings": "What people should know before they use it.",
    "unavailable": "Why there is no configuration; null where there is one.",
    "note": "The message of unavailable; empty where there is a configuration.",
    "code": "What is meant, for programs; it does not change.",
    "subject": "The part of the entry that is meant; it is the publisher's text, at most 100 characters.",
    "message": "A sentence for people; it may change.",
    "required": "Whether it stands in the configurations; what does not is optional.",
    "secret": "Whether it is to be kept from others.",
    "default": "Empty where there is none.",
    "choices": "Empty where anything may be said.",
    "editor": "The editor's name.",
    "file": "Where the editor keeps it.",
    "config": "The JSON of a file that holds nothing else yet.",
    "icons": "As in the server.json.",
    "status": "As the entry's registry wrote it; active where it has none.",
    "official": "Whether the official registry lists the entry, by the word of a source that the operator trusts.",
    "published_at": "As the entry's registry wrote it (RFC 3339).",
    "updated_at": "As the entry's registry wrote it (RFC 3339).",
    "server": "The server.json document as published; empty where it is too large.",
    "omitted": "Fields that are cut or left out because the entry is too large.",
}


def schemas() -> dict[str, Schema]:
    """Return the named schemas of the description."""
    return {
        "Hit": {
            "type": "object",
            "description": "An entry that was found: name, brief and website_url, or the fields that were asked for.",
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
        # What was removed has nothing but its id.
        "Change": {**_record({**_CHANGE, **_LISTED}), "required": list(_CHANGE)},
        "ChangesPage": _record(
            {
                "data": _many("Change"),
                "count": {**COUNT, "description": "The number of changes in data."},
                "next": {**TEXT, "description": "The since of the next page, now or later."},
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
                "error": {**TEXT, "description": "The reason, for machines; it stays."},
                "message": {**TEXT, "description": "The reason, in a sentence for people; it may change."},
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
    said = {field.name: {"description": _SAID[field.name]} for field in attrs.fields(of) if field.name in _SAID}
    return {
        field.name: {**_TYPES[field.type], **said.get(field.name, {})}
        for field in attrs.fields(attrs.resolve_types(of))
    }
