"""Bodies of responses that REST and MCP share, their events, and stored forms of checks and audit events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, get_args

import orjson
from attrs import asdict, astuple, evolve, field, frozen
from cattrs import Converter
from cattrs.strategies import configure_union_passthrough

from ..domain.audit import recorded
from ..domain.changes import Change, ChangeKind
from ..domain.checks import IndexedVerification, PackageTexts
from ..domain.marks import kinds_of
from ..domain.search import MAX_SEARCHED_FOR, Match
from ..domain.tools import OfferedTool
from ..domain.views import Detail, Hit
from ..domain.withholding import shown_hit
from ._entries import MATCHING_TOOLS, restore_entry
from ._json import encode, text
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

SEARCHED_FOR = (
    "What was searched for: the filters, the sentence and the words that were chosen of long keywords. Absent if all "
    "of the keywords were searched for."
)
"""The description of the text that was searched of long keywords."""

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
    searched_for: str = field(
        default="", metadata={"maxLength": MAX_SEARCHED_FOR, "description": f"{SEARCHED_FOR} Only with `fields`."}
    )


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
    matches = {
        "type": "string",
        "description": "Conditions of the keywords that the entry satisfies, and unknown ones.",
    }
    return {
        "type": "object",
        "properties": {
            **field_schemas(Detail, IDENTIFIED),
            "brief": brief,
            **field_schemas(Detail, _FACTS),
            "ends": {"type": "object", "description": "Its end of life."},
            "trust": {"type": "string", "description": TRUST},
            "stars": {**field_schemas(Detail, ("stars",))["stars"], "type": "integer"},
            "updated": updated,
            "matches": matches,
            "used_by": {"type": "integer", "description": "How many accounts of this directory opened it of late."},
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
    return {"mcp_id": hit.mcp_id, "name": hit.name, "brief": hit.brief, "website_url": hit.website_url}


def search_page(items: Any, count: int, match: Match, searched_for: str = "") -> bytes:
    """Return an encoded page of `count` items: a sequence, or an encoded array."""
    # An object of the class takes five times as long.
    reduced = {"searched_for": searched_for} if searched_for else {}
    return encode({"data": items, "count": count, "match": match, **reduced})


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
    hit = shown_hit(restore_entry(change.body), change.accepted)
    kinds = kinds_of([*change.flags, *hit.flags])
    flags = {"flags": kinds} if kinds else {}
    return {**identified(hit), **status, **flags}


def recorded_values(values: Mapping[str, object]) -> str:
    """Return values as a JSON object without secrets and within MAX_VALUES; empty if there are none."""
    kept = recorded(values)
    return text(kept) if kept else ""


_LINE_ENDS = {end.encode(): b"\\u%04x" % ord(end) for end in "\x85\u2028\u2029"}
"""Characters that JSON does not escape and some clients treat as line ends (Unicode, section 5.8); their escapes."""


def event(value: Any, *, name: str = "", identity: str | None = None) -> bytes:
    """Return an encoded event with `value` as JSON on one line.

    `name` and `identity` become its `event` and `id`, which are omitted if empty and None.
    """
    data = encode(value)
    if not data.isascii():
        for end, escape in _LINE_ENDS.items():
            data = data.replace(end, escape)
    number = b"" if identity is None else b"id: %s\n" % identity.encode()
    kind = b"event: %s\n" % name.encode() if name else b""
    return b"%s%sdata: %s\n\n" % (number, kind, data)


def event_id(seq: int, log: str) -> str:
    """Return the id of an event, from which a client resumes: the `seq` of a change, and the id of its log."""
    return f"{seq}-{log}"


def id_field(seq: int, log: str) -> bytes:
    """Return an encoded `id` field without data. A client resumes from it, and dispatches no event."""
    return b"id: %s\n\n" % event_id(seq, log).encode()


def change_event(change: Change, log: str) -> bytes:
    """Return the encoded event of a change in the log with the id `log`."""
    return event(change_fields(change), name=f"entry.{change.kind}", identity=event_id(change.seq, log))


T = TypeVar("T")

_CONVERTER = Converter()
configure_union_passthrough(str | int | float | bool | None, _CONVERTER)


def restore_record(value: Any, cls: type[T]) -> T:
    """Return the instance of `cls`, an attrs class, from the value of its stored form."""
    return _CONVERTER.structure(value, cls)


def encode_indexed(verification: IndexedVerification) -> bytes:
    """Return the stored form of what the index holds of the checks of an entry."""
    value = asdict(verification)
    value["tools"] = [*map(astuple, verification.tools)]
    # As before there were these fields: another form would be a change of every entry.
    for name in ("names_server", "texts", "hinted", "marks"):
        if not value[name]:
            del value[name]
    return encode(value)


def restore_indexed(body: bytes) -> IndexedVerification:
    """Return what the index holds of a verification from `body`."""
    value = orjson.loads(body)
    # Tools that were stored before they had titles are pairs of name and description.
    tools = ((name, "", *rest) if len(rest) == 1 else (name, *rest) for name, *rest in value["tools"])
    found = _CONVERTER.structure({**value, "tools": ()}, IndexedVerification)
    return evolve(found, tools=tuple(OfferedTool(*tool) for tool in tools))


def encode_texts(texts: PackageTexts) -> bytes:
    """Return the stored form of the texts of a package, at most 13,000 bytes."""
    return encode([texts.summary, texts.keywords, texts.readme])


def restore_texts(body: bytes) -> PackageTexts:
    """Return the texts of a package from `body`, the output of `encode_texts`."""
    summary, keywords, readme = orjson.loads(body)
    return PackageTexts(summary, tuple(keywords), readme)


def indexed_status(body: bytes) -> str:
    """Return the status in what the index holds of a verification."""
    return str(orjson.loads(body)["status"])
