"""The description as a whole: each path, what it takes and how it answers."""

from __future__ import annotations

from typing import Any

from ... import __version__, serialization
from ...domain import errors
from ...domain.search import DEFAULT_LIMIT
from ..changes import PATH as CHANGES
from ..rest import SEARCH
from ._responses import KEYED, good, headers, refusals
from ._schemas import Schema, mcp_id, schemas

PATH = "/api/open/openapi.json"

_SUMMARY = """\
A directory of MCP (Model Context Protocol) servers: search it, look entries up, follow what changes.

Every request but those of `/healthz`, `/readyz` and this description needs an API key: \
`Authorization: Bearer mcpd_…`. A request that is carried out costs one unit of the key's quota, which counts any 60 \
minutes; one that is refused costs nothing. \
The same directory is offered to MCP clients at `/api/open/mcp`, which is not described here.
"""

_QUOTA = ("RateLimit-Policy", "RateLimit", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")

# Not all of them blank.
_KEYWORDS: Schema = {
    "type": "string",
    "pattern": r"\S",
    "maxLength": serialization.MAX_KEYWORDS,
    "examples": ["postgres"],
}

_HIT = {
    "name": "Supabase",
    "brief": "Tables, migrations, edge functions, branches and logs of your Supabase projects.",
    "website_url": "https://github.com/supabase-community/supabase-mcp",
}
_STREAM = 'id: 51-0c9f1e22ab34\nevent: entry.removed\ndata: {"mcp_id":"41d18bdd-f870-5370-a6db-68de9251dacf"}\n\n'


def _document() -> bytes:
    return serialization.encode(
        {
            "openapi": "3.1.0",
            "info": {"title": "MCP directory", "version": __version__, "description": _SUMMARY},
            "servers": [{"url": "/", "description": "This server."}],
            "security": [{"key": []}],
            "paths": {
                SEARCH: {"get": _search()},
                "/api/open/v1/entries/{mcp_id}": {"get": _entry()},
                CHANGES: {"get": _changes()},
                "/healthz": {"get": _health()},
                "/readyz": {"get": _readiness()},
                PATH: {"get": _description()},
            },
            "components": {
                "securitySchemes": {
                    "key": {
                        "type": "http",
                        "scheme": "bearer",
                        "description": "An API key, which the operator of the directory gives out.",
                    }
                },
                "headers": headers(),
                "schemas": schemas(),
            },
        }
    )


def _search() -> dict[str, Any]:
    said: dict[str, dict[str, Any]] = {
        "keywords": {
            "required": True,
            "description": (
                "What to look for: a name or part of one, a product, a category, a need, in any language. Among the "
                'words may stand filters: "exact phrase", -word, tag:NAME, transport:stdio|http|sse, '
                "package:npm|pypi|oci, official:true."
            ),
            "schema": _KEYWORDS,
        },
        "limit": {
            "description": "The largest number of entries in this answer.",
            "schema": _whole(1, serialization.MAX_LIMIT, default=DEFAULT_LIMIT),
        },
        "cursor": {
            "description": "Where to go on, out of the Link header of the page before. Opaque.",
            "schema": {"type": "string"},
        },
        "fields": {
            "description": (
                "Which fields each entry of the answer has, in this order; without it the three of Hit. They are those "
                "of Detail. A page of large ones ends before its limit."
            ),
            "style": "form",
            "explode": False,
            "schema": {
                "type": "array",
                "items": {"enum": list(serialization.FIELDS)},
                "minItems": 1,
                "examples": [["mcp_id", "name", "server_name"]],
            },
        },
    }
    return {
        "operationId": "search",
        "summary": "Search by keywords",
        "description": "Answers what matches, best first. Costs one unit.",
        "parameters": [{"name": name, "in": "query", **said[name]} for name in serialization.SEARCH_PARAMETERS],
        "responses": {
            "200": good("A page of entries.", "SearchPage", *_QUOTA, "Link", example={"data": [_HIT], "count": 1}),
            **refusals(*KEYED),
        },
    }


def _entry() -> dict[str, Any]:
    return {
        "operationId": "entry",
        "summary": "Look up one entry",
        "description": "Answers all that is known of an entry. Costs one unit, also where there is no such entry.",
        "parameters": [
            {
                "name": "mcp_id",
                "in": "path",
                "required": True,
                "description": "The id of an entry, as the changes and a search with fields=mcp_id give it.",
                "schema": mcp_id(),
            }
        ],
        "responses": {"200": good("The entry.", "Detail", *_QUOTA), **refusals(*KEYED, errors.NotFound)},
    }


def _changes() -> dict[str, Any]:
    said: dict[str, dict[str, Any]] = {
        "since": {
            "description": (
                "The place in the log behind which to begin: 0 for all of it, the next of a page, the id of an event, "
                "or the seq of a change, which cannot tell that the directory was restored from a backup. Without it "
                "a page begins with the log, and a stream with what happens from now on."
            ),
            "schema": {"type": "string", "pattern": serialization.POSITION, "examples": ["0", "51-0c9f1e22ab34"]},
        },
        "keywords": {
            "description": "Only entries that have all of these words, whole; filters hold as in a search.",
            "schema": _KEYWORDS,
        },
        "limit": {
            "description": "The largest number of changes in a page; large ones end it earlier. Streams ignore it.",
            "schema": _whole(1, serialization.MAX_CHANGES, default=serialization.DEFAULT_CHANGES),
        },
    }
    change = {"seq": 51, "event": "entry.removed", "mcp_id": "41d18bdd-f870-5370-a6db-68de9251dacf"}
    return {
        "operationId": "changes",
        "summary": "Follow what changes",
        "description": (
            "The answer is a page of the log of changes. With `Accept: text/event-stream` it is a stream of "
            "server-sent events that goes on with what happens; where `Accept` ranks JSON as high, it is a page. Costs "
            "one unit."
        ),
        "parameters": [{"name": name, "in": "query", **said[name]} for name in serialization.WATCH_PARAMETERS],
        "responses": {
            "200": good(
                "A page of changes, or a stream of them.",
                "ChangesPage",
                *_QUOTA,
                "Link",
                example={"data": [change], "count": 1, "next": "51-0c9f1e22ab34"},
                stream=_STREAM,
            ),
            **refusals(*KEYED, errors.Gone, errors.TooManyStreams),
        },
    }


def _health() -> dict[str, Any]:
    health = {"status": "ok", "entries": 50, "generation": 1}
    return {
        "operationId": "health",
        "summary": "Say that the process is alive",
        "description": "Needs no key and costs nothing.",
        "security": [],
        "responses": {
            "200": good("Alive; how many entries can be found.", "Health", example=health),
            **refusals(),
        },
    }


def _readiness() -> dict[str, Any]:
    return {
        "operationId": "readiness",
        "summary": "Say whether the process can answer requests",
        "description": "For load balancers. Needs no key and costs nothing.",
        "security": [],
        "responses": {
            "200": good("Ready.", "Ready", example={"status": "ready"}),
            "503": good(
                "Not ready: the index is not loaded, the storage fails, or the process is stopping.",
                "NotReady",
                "Retry-After",
                example={"status": "unavailable", "reasons": ["storage"]},
            ),
            **refusals(),
        },
    }


def _description() -> dict[str, Any]:
    return {
        "operationId": "openapi",
        "summary": "Describe these paths",
        "description": "This description, in OpenAPI 3.1. Needs no key and costs nothing.",
        "security": [],
        "responses": {"200": good("The description.", "Description"), **refusals()},
    }


def _whole(least: int, most: int, **more: int) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most, **more}


DOCUMENT = _document()
"""The description, encoded."""
