"""Bodies of responses that REST and MCP share: pages of hits and of changes, and errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from attrs import field, frozen

from ..domain.changes import Change, ChangeKind
from ..domain.marks import kinds_of
from ..domain.search import Match
from ..domain.views import Detail, Hit
from ..domain.withholding import shown_hit
from ._checks import indexed_status
from ._entries import MATCHING_TOOLS, restore_entry
from ._json import encode
from ._json_schema import Schema, field_schemas

LISTED = ("name", "brief", "website_url")
"""Fields of an entry in a search response, by default."""

IDENTIFIED = ("mcp_id", *LISTED)
"""Fields of an entry in the result of a tool, and in a change."""

_FACTS = (
    "server_name",
    "vendor",
    "auth",
    "runs",
    "installable",
    "status",
    "status_message",
    "flags",
)
"""Fields of an entry that a hit in the result of a tool has if they are known, beside its stars and its date."""

MATCH = (
    "How well the best entries match: strong, partial (they lack a part of the keywords), weak (no entry matches "
    "closely: these are the nearest, at most 10) or none."
)
"""The description of the steps of a match."""

TRUST = (
    "What this directory knows: verified, the publisher has proven to own the name; works, needs_login, available (the "
    "package exists), failing or down, by its checks; read-only, may-delete or no-hints, by the hints of its tools. "
    "Absent if unknown, which is not bad."
)
"""The description of the summary of a hit."""

_COUNT = {"minimum": 0, "description": "The number of items in data."}


@frozen
class SearchPage:
    """A page of hits."""

    data: Sequence[Hit] = field(metadata={"description": "Matching entries, best match first."})
    count: int = field(metadata=_COUNT)
    match: Match = field(default="strong", metadata={"description": f"{MATCH} Only with `fields`."})


@frozen
class ChangeItem:
    """Fields of every change in a page, beside the mcp_id. Except for a removed entry, the LISTED fields follow."""

    seq: int = field(metadata={"minimum": 0, "description": "Sequence number; it increases with each change."})
    event: str = field(metadata={"enum": [f"entry.{kind}" for kind in get_args(ChangeKind)]})


@frozen
class ChangesPage:
    """A page of changes."""

    data: Sequence[ChangeItem] = field(metadata={"description": "Changes in the order of the log."})
    count: int = field(metadata=_COUNT)
    next: str = field(metadata={"description": "Value of since for the next page, now or later."})


@frozen
class ErrorBody:
    """The body of an error response."""

    error: str = field(metadata={"description": "Machine-readable code; it does not change."})
    message: str = field(metadata={"description": "Human-readable message; it may change."})


def hit_schema() -> Schema:
    """Return the schema of a hit in the result of a tool."""
    brief = field_schemas(Detail, ("summary",))["summary"]
    updated = {"type": "string", "pattern": r"^\d{4}-\d{2}$", "description": "Month of its last update."}
    matches = {"type": "string", "description": "Conditions of the keywords that the entry satisfies."}
    return {
        "type": "object",
        "properties": {
            **field_schemas(Detail, IDENTIFIED),
            "brief": brief,
            **field_schemas(Detail, _FACTS),
            "trust": {"type": "string", "description": TRUST},
            "stars": {**field_schemas(Detail, ("stars",))["stars"], "type": "integer"},
            "updated": updated,
            "matches": matches,
            MATCHING_TOOLS: matching_tools_schema({"type": "object"}),
        },
        "required": list(IDENTIFIED),
    }


def matching_tools_schema(tool: Schema) -> Schema:
    """Return the schema of the tools of a hit that match; `tool` is that of one."""
    return {
        "type": "array",
        "description": "Tools of the entry that match the keywords, at most 3, the best first.",
        "items": tool,
    }


def identified(hit: Hit) -> dict[str, str]:
    """Return the IDENTIFIED fields of `hit`."""
    return {"mcp_id": hit.mcp_id, "name": hit.name, "brief": hit.brief, "website_url": hit.website_url}


def search_page(items: Any, count: int, match: Match) -> bytes:
    """Return an encoded page of `count` items: a sequence, or an encoded array."""
    # An object of the class takes five times as long.
    return encode({"data": items, "count": count, "match": match})


def changes_page(items: Sequence[Any], position: str) -> bytes:
    """Return an encoded page of encoded changes, after which the page at `position` follows."""
    return encode(ChangesPage(items, len(items), position))


def change_item(change: Change) -> bytes:
    """Return an encoded change of a page."""
    item = ChangeItem(change.seq, f"entry.{change.kind}")
    return encode({"seq": item.seq, "event": item.event, **change_fields(change)})


def change_fields(change: Change) -> Mapping[str, Any]:
    """Return the fields of the changed entry, with its status and flags if it has any; of a removed one its id.

    Texts that have marks are withheld. For threads: it reads these texts.
    """
    if change.body is None:
        return {"mcp_id": change.mcp_id}
    status = {} if change.verified is None else {"verified": indexed_status(change.verified)}
    hit = shown_hit(restore_entry(change.body), change.accepted.split())
    kinds = kinds_of([*change.flags, *hit.flags])
    flags = {"flags": kinds} if kinds else {}
    return {**identified(hit), **status, **flags}
