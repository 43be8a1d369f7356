"""Entries as JSON: the stored form `{"server": {server.json}, "_meta": {…}}`, details, and records of hits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import attrs
import orjson
from attrs import evolve

from ..domain.entries import Entry, check_name, check_version
from ..domain.errors import BadInput
from ..domain.search import PAGE_BYTES, Hits
from ..domain.tools import OfferedTool
from ..domain.versions import Version
from ..domain.views import Detail, Hit
from ._cards import catalog_server, check_card, is_catalog_entry
from ._json import encode

MatchingTools = Mapping[str, Sequence[Mapping[str, str]]]

OWN = "io.github.mcp-directory-server/entry"
"""The key of the directory's own metadata in `_meta`."""

VERIFICATION = "io.github.mcp-directory-server/verification"
"""The key of `_meta` for what the checks of this directory found. It is not imported: others check for themselves."""

FLAG_META = "io.github.mcp-directory-server/flags"
"""The key of `_meta` for the flags of this directory. It is not imported either."""

ENDING_META = "io.github.mcp-directory-server/end-of-life"
"""The key of `_meta` for when an entry ends. A mirror gets the same as a status with a message."""

REMOVAL = "io.github.mcp-directory-server/removal"
"""The key of `_meta` of an entry that this directory has removed: the reason and the date. It is not imported."""

_NOT_IMPORTED = frozenset({VERIFICATION, FLAG_META, ENDING_META, REMOVAL})

MAX_ENTRY = 1_000_000
"""Bytes of an encoded entry. Real entries have at most 62,244."""

MAX_VALUES = 20_000
"""JSON values in an entry. Real entries have at most 2,192. A decoded value takes up to 64 bytes of memory."""

MAX_DETAIL = 512 * 1024
"""Bytes of the encoded detail of an entry. Details of real entries have at most 149,410."""

_WITHOUT_LARGEST: Mapping[str, Any] = {
    "server": {},
    **dict.fromkeys(("install", "packages", "remotes", "icons", "tools"), ()),
    "verification": None,
}
"""Fields that are omitted from a larger detail, and their values then."""

FIELDS = tuple(attribute.name for attribute in attrs.fields(Detail))
"""All fields: those of the detail of an entry."""

MATCHING_TOOLS = "matching_tools"
"""The field of a hit with the tools of the entry that match the search."""

SEARCH_FIELDS = (*FIELDS, MATCHING_TOOLS)
"""All fields of a hit that can be requested."""

HIT_FIELDS = frozenset(attribute.name for attribute in attrs.fields(Hit)).intersection(FIELDS) | {MATCHING_TOOLS}
"""Fields in the index, for which no entry is read from the store."""


def decode_entry(value: Any) -> Entry:
    """Return the entry of `value`: a server.json, or an object with the server.json under `server`, and `_meta`.

    An entry of another kind may be a catalog entry of ARD instead, with an `identifier`. Of a server.json, only `name`,
    `version` and `description` are required and must be strings. Other members are not checked. Raises BadInput with
    the path of the invalid member.
    """
    if not isinstance(value, dict):
        raise BadInput("An entry must be an object: a server.json, or one with the members 'server' and '_meta'.")
    if is_catalog_entry(value):
        value = catalog_server(value)
    server = value.get("server", value)
    meta = value.get("_meta", {}) if "server" in value else {}
    if not isinstance(server, dict):
        raise BadInput("server: must be an object.")
    if not isinstance(meta, dict):
        raise BadInput("_meta: must be an object.")
    for member in ("name", "version", "description"):
        if member not in server:
            raise BadInput(f"server.{member}: is required.")
        if not isinstance(server[member], str):
            raise BadInput(f"server.{member}: must be a string.")
    check_name(server["name"])
    check_version(server["version"])
    check_card(server)
    entry = Entry(server, {key: each for key, each in meta.items() if key not in _NOT_IMPORTED})
    encoded = encode_entry(entry)
    if len(encoded) > MAX_ENTRY:
        raise BadInput(f"The entry is larger than {MAX_ENTRY:,} bytes.")
    # Each value follows one of these characters. Strings may contain more of them.
    if sum(map(encoded.count, (b",", b"[", b"{"))) > MAX_VALUES and _has_more_values(entry, MAX_VALUES):
        raise BadInput(f"The entry has more than {MAX_VALUES:,} JSON values.")
    return entry


def _has_more_values(entry: Entry, remaining: int) -> bool:
    inside: list[Any] = [entry.server, entry.meta]
    while inside and remaining >= 0:
        container = inside.pop()
        remaining -= len(container)
        members = container.values() if isinstance(container, dict) else container
        inside += [member for member in members if isinstance(member, dict | list)]
    return remaining < 0


def encode_entry(entry: Entry) -> bytes:
    """Return the entry as JSON, with members in their original order."""
    return orjson.dumps(_stored(entry))


def encode_detail(detail: Detail) -> bytes:
    """Return the detail as JSON. The largest fields are omitted if it has more than MAX_DETAIL bytes."""
    body = encode(detail)
    return body if len(body) <= MAX_DETAIL else encode(without_largest(detail))


def without_largest(detail: Detail) -> Detail:
    """Return a detail without its largest fields."""
    omitted = (*dict.fromkeys((*detail.omitted, *_WITHOUT_LARGEST)),)
    return evolve(detail, omitted=omitted, **_WITHOUT_LARGEST)


def restore_entry(body: bytes) -> Entry:
    """Return the entry of `body`, the output of `encode_entry`. It is not validated."""
    value = orjson.loads(body)
    return Entry(value["server"], value["_meta"], value.get("official") is True, value.get("proven") is True)


def fingerprint(entry: Entry) -> bytes:
    """Return a digest of 16 bytes, equal for entries that differ only in the order of members."""
    canonical = orjson.dumps(_stored(entry), option=orjson.OPT_SORT_KEYS)
    return blake2b(canonical, digest_size=16).digest()


def document_digest(entry: Entry) -> str:
    """Return the fingerprint of the server.json of an entry without its metadata, as hexadecimal digits."""
    return fingerprint(Entry(entry.server)).hex()


def edited(entry: Entry, values: Mapping[str, Any]) -> Entry:
    """Return `entry` with other values of fields of its server.json; an empty text removes a field.

    Nested fields are written as `repository.url`. Raises BadInput for an invalid entry, and for a new name.
    """
    server = orjson.loads(orjson.dumps(entry.server))
    for field, value in values.items():
        *outer, last = field.split(".")
        inside = server
        for part in outer:
            inside = inside.setdefault(part, {})
            if not isinstance(inside, dict):
                raise BadInput(f"{field}: {part} is not an object.")
        if value == "":
            inside.pop(last, None)
        else:
            inside[last] = value
    changed = decode_entry({"server": server, "_meta": entry.meta})
    if changed.name != entry.name:
        raise BadInput("name: cannot be changed; add a new entry instead.")
    return evolve(entry, server=changed.server)


def with_official_flag(entry: Entry) -> Entry:
    """Return `entry` from a source trusted about official listings, with `is_official` set.

    An entry is official if it has the registry's key in `_meta`. Directory servers write this key for every entry, for
    its dates, so their own metadata may deny it.
    """
    own = entry.meta.get(OWN)
    denied = isinstance(own, dict) and own.get("official") is False
    return evolve(entry, is_official=bool(entry.official) and not denied)


def _stored(entry: Entry) -> dict[str, Any]:
    # Only facts that are true are members, so that a new fact changes no stored entry.
    facts = {"official": entry.is_official, "proven": entry.has_proof}
    return {"server": entry.server, "_meta": entry.meta, **{name: True for name, is_true in facts.items() if is_true}}


def fields_of(text: str) -> Sequence[str]:
    """Return the field names in the comma-separated `text`, without duplicates. Raises BadInput."""
    names = text.split(",")
    for name in names:
        if name not in SEARCH_FIELDS:
            allowed = ",".join(SEARCH_FIELDS)
            raise BadInput(f"fields: unknown field {name[:50]!r}; allowed, separated by commas: {allowed}.")
    return tuple(dict.fromkeys(names))


def matching_tools(hits: Hits, fields: Sequence[str]) -> MatchingTools:
    """Return the tools of each of `hits` that match, by the mcp_id of the hit, if `fields` have them."""
    tools = hits.tools() if MATCHING_TOOLS in fields else ()
    return {hit.mcp_id: tool_views(of_hit) for hit, of_hit in zip(hits, tools, strict=False)}


def tool_views(tools: Sequence[OfferedTool]) -> Sequence[Mapping[str, str]]:
    """Return the names and lines of the tools of a hit."""
    return [{"name": tool.name, "description": tool.description} for tool in tools]


def hit_records(hits: Hits, fields: Sequence[str]) -> Sequence[bytes]:
    """Return the encoded `fields` of each hit."""
    tools = matching_tools(hits, fields)
    return [encode(_fields_of(hit, fields, tools)) for hit in hits]


def _fields_of(view: Hit | Detail, fields: Sequence[str], tools: MatchingTools) -> Mapping[str, Any]:
    return {name: tools.get(view.mcp_id, ()) if name == MATCHING_TOOLS else getattr(view, name) for name in fields}


def detail_records(
    versions: Sequence[Version],
    fields: Sequence[str],
    tools: MatchingTools,
    summary_of: Callable[[Entry], Detail],
) -> Sequence[bytes]:
    """Return the encoded `fields` of the first entries, until they have PAGE_BYTES or more.

    `tools` are those that match. `summary_of` returns the detail of an entry.
    """
    records: list[bytes] = []
    size = 0
    for version in versions:
        detail = summary_of(restore_entry(version.body))
        records.append(encode(_fields_of(detail, fields, tools)))
        size += len(records[-1])
        if size >= PAGE_BYTES:
            break
    return records
