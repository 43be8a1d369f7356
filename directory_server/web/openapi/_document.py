"""The OpenAPI document: paths, parameters and responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from attrs import field, frozen

from ... import __version__, serialization
from ...domain import errors
from ...serialization import ChangesParameters, EntryPath, Schema, SearchParameters
from ..changes import PATH as CHANGES
from ..rest import SEARCH
from ._responses import KEY_ERRORS, error_responses, headers, parameters, schemas, success

PATH = "/api/open/openapi.json"

_SUMMARY = """\
A directory of MCP (Model Context Protocol) servers. Search it, read entries and follow changes.

Every request needs an API key (`Authorization: Bearer mcpd_…`), except {exceptions}. A \
successful request costs one request of the key's quota, which counts the last 60 minutes. A rejected request costs \
nothing. MCP clients use the same directory at `/api/open/mcp`, which this document does not describe. Lists of the \
registry API, such as `/v0.1/servers`, are as the OpenAPI document of the official MCP registry describes them.
"""

_QUOTA = ("RateLimit-Policy", "RateLimit", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")

_HIT = {
    "name": "Supabase",
    "brief": "Tables, migrations, edge functions, branches and logs of your Supabase projects.",
    "website_url": "https://github.com/supabase-community/supabase-mcp",
}
_STREAM = 'id: 51-0c9f1e22ab34\nevent: entry.removed\ndata: {"mcp_id":"41d18bdd-f870-5370-a6db-68de9251dacf"}\n\n'


@cache
def document(parts: tuple[OpenApiPart, ...]) -> bytes:
    """Return the OpenAPI document with the `parts` of features, encoded as JSON."""
    return serialization.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "MCP directory",
                "version": __version__,
                "description": _SUMMARY.format(exceptions=_exceptions(parts)),
            },
            "servers": [{"url": "/", "description": "This server."}],
            "security": [{"key": []}],
            "paths": {
                SEARCH: {"get": _search()},
                "/api/open/v1/entries/{mcp_id}": {"get": _entry()},
                CHANGES: {"get": _changes()},
                "/healthz": {"get": _health()},
                "/readyz": {"get": _readiness()},
                PATH: {"get": _openapi()},
                **{path: item for part in parts for path, item in part.paths.items()},
            },
            "components": {
                "securitySchemes": {
                    "key": {
                        "type": "http",
                        "scheme": "bearer",
                        "description": "API key, issued by the operator of the directory.",
                    },
                    **{name: scheme for part in parts for name, scheme in part.security.items()},
                },
                "headers": headers(),
                "schemas": {**schemas(), **{name: schema for part in parts for name, schema in part.schemas.items()}},
            },
        }
    )


def _search() -> dict[str, Any]:
    return {
        "operationId": "search",
        "summary": "Search by keywords",
        "description": "Returns matching entries, best match first; at most 10 if none is close. Costs one request.",
        "parameters": parameters(SearchParameters),
        "responses": {
            "200": success("A page of entries.", "SearchPage", *_QUOTA, "Link", example={"data": [_HIT], "count": 1}),
            **error_responses(*KEY_ERRORS),
        },
    }


def _entry() -> dict[str, Any]:
    return {
        "operationId": "entry",
        "summary": "Get an entry",
        "description": "Returns all fields of an entry. Costs one request, also if the entry does not exist.",
        "parameters": parameters(EntryPath, "path"),
        "responses": {"200": success("The entry.", "Detail", *_QUOTA), **error_responses(*KEY_ERRORS, errors.NotFound)},
    }


def _changes() -> dict[str, Any]:
    change = {"seq": 51, "event": "entry.removed", "mcp_id": "41d18bdd-f870-5370-a6db-68de9251dacf"}
    return {
        "operationId": "changes",
        "summary": "Follow changes",
        "description": (
            "Returns a page of the change log. With `Accept: text/event-stream`, returns a stream of server-sent "
            "events that continues with new changes. If `Accept` ranks JSON equally, the response is a page. Costs one "
            "request."
        ),
        "parameters": parameters(ChangesParameters),
        "responses": {
            "200": success(
                "A page or a stream of changes.",
                "ChangesPage",
                *_QUOTA,
                "Link",
                example={"data": [change], "count": 1, "next": "51-0c9f1e22ab34"},
                stream=_STREAM,
            ),
            **error_responses(*KEY_ERRORS, errors.Gone, errors.TooManyStreams),
        },
    }


def _health() -> dict[str, Any]:
    health = {"status": "ok", "entries": 50, "generation": 1}
    return {
        "operationId": "health",
        "summary": "Liveness",
        "description": "Needs no key and costs nothing.",
        "security": [],
        "responses": {
            "200": success("The process is alive; the number of searchable entries.", "Health", example=health),
            **error_responses(),
        },
    }


def _readiness() -> dict[str, Any]:
    return {
        "operationId": "readiness",
        "summary": "Readiness",
        "description": "For load balancers. Needs no key and costs nothing.",
        "security": [],
        "responses": {
            "200": success("Ready.", "Ready", example={"status": "ready"}),
            "503": success(
                "Not ready: the index is not loaded, the storage fails, or the process is stopping.",
                "NotReady",
                "Retry-After",
                example={"status": "unavailable", "reasons": ["storage"]},
            ),
            **error_responses(),
        },
    }


def _openapi() -> dict[str, Any]:
    return {
        "operationId": "openapi",
        "summary": "OpenAPI document",
        "description": "This document, in OpenAPI 3.1. Needs no key and costs nothing.",
        "security": [],
        "responses": {"200": success("The document.", "Description"), **error_responses()},
    }


def _exceptions(parts: Sequence[OpenApiPart]) -> str:
    """Return the operations that need no API key, in words."""
    names = ["`/healthz`", "`/readyz`", "this document", *(part.without_key for part in parts if part.without_key)]
    return f"{', '.join(names[:-1])}, and {names[-1]}"


@frozen(eq=False)
class OpenApiPart:
    """Path items, schemas and security schemes by their names.

    `without_key` names the operations that need no API key, for the description of the API; empty if there are none.
    """

    paths: Mapping[str, Any] = field(factory=dict)
    schemas: Mapping[str, Schema] = field(factory=dict)
    security: Mapping[str, Any] = field(factory=dict)
    without_key: str = ""


def registry_read(
    name: str, summary: str, description: str, media_type: str, parameters: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Return the path item of a GET beside the registry API whose body has `media_type`."""
    schema = {"type": "object"} if media_type == "application/json" else {}
    return {
        "get": {
            "operationId": name,
            "summary": summary,
            "description": f"{description} Needs an API key unless `registry.access` is `public`. Costs nothing.",
            "security": [],
            **({"parameters": [*parameters]} if parameters else {}),
            "responses": {
                "200": {"description": "The document.", "content": {media_type: {"schema": schema}}},
                "304": {"description": "The client has it: `If-None-Match` has its ETag."},
                "default": {
                    "description": "An error (RFC 9457).",
                    "content": {"application/problem+json": {"schema": {"type": "object"}}},
                },
            },
        }
    }
