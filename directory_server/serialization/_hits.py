"""Records of hits: the stored form, of which the responses to searches are joined without decoding.

A record has three lines. The first has the members of a JSON object with the IDENTIFIED fields, without its braces. The
second has a comma and the members of the facts that are known, or nothing. The third has what else a hit needs, as
members of an object, and is empty for about half of the entries. JSON has no line breaks inside strings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import orjson
from attrs import evolve

from ..domain.ending_views import EndingView
from ..domain.licenses import UNKNOWN
from ..domain.search import Hits
from ..domain.tools import OfferedTool
from ..domain.trust import hit_text, known_of
from ..domain.views import ACTIVE, Hit
from ._entries import tool_views
from ._json import encode
from ._responses import identified

FULL = 10
"""The first hits in the result of a tool, which have all that is known. Later ones have the IDENTIFIED fields."""

_ID = slice(len('"mcp_id":"'), len('"mcp_id":"123e4567-e89b-52d3-a456-426614174000'))
_LISTED = len('"mcp_id":"123e4567-e89b-52d3-a456-426614174000",')
"""The id in a record, and the bytes before the LISTED fields. All ids are UUIDs and equally long."""

_SHORTER, _LONGER = "shorter", "summary"
"""The members of the third line with the summary: if it is shorter than the brief, and if it is longer."""

_BRIEF, _URL, _UPDATED = b',"brief":', b',"website_url":', b',"updated":'
_ENDS, _FLAGS = b',"ends":', b',"flags":'
"""The beginnings of members. A quotation mark inside a string is escaped, so no text contains them."""

_MONTH = len('"2026-05')
"""Bytes of an encoded day that tell the month."""


def encode_hit(hit: Hit, name: str) -> bytes:
    """Return the record of `hit`, an entry with the registered `name`."""
    known = {
        "server_name": hit.server_name != hit.name,
        "vendor": hit.vendor,
        "auth": hit.auth != UNKNOWN,
        "runs": bool(hit.runs),
        "installable": hit.installable,
        "stars": bool(hit.stars),
        "updated": bool(hit.updated),
        "status": hit.status != ACTIVE,
        "status_message": bool(hit.status_message),
    }
    facts = {field: getattr(hit, field) for field, is_known in known.items() if is_known}
    if trust := hit_text(hit):
        facts["trust"] = trust
    if hit.ends:
        facts["ends"] = hit.ends
    if hit.flags:
        facts["flags"] = hit.flags
    others: dict[str, Any] = {}
    if name != hit.name:
        others["registered"] = name
    if hit.server_name != name and "server_name" not in facts:
        others["server_name"] = hit.server_name
    if hit.summary != hit.brief:
        others[_SHORTER if len(hit.summary) < len(hit.brief) else _LONGER] = hit.summary
    if hit.stars == 0:
        others["stars"] = 0
    return b"\n".join((_members(identified(hit)), b"," + _members(facts) if facts else b"", _members(others)))


def decode_hit(record: bytes) -> Hit:
    fields = orjson.loads(b"{%s%s}" % tuple(record.split(b"\n")[:2])) | _others(record)
    name = fields.pop("registered", fields["name"])
    runs, flags = tuple(fields.pop("runs", ())), tuple(fields.pop("flags", ()))
    summary = fields.pop(_SHORTER, fields["brief"])
    if ends := fields.pop("ends", None):
        fields["ends"] = EndingView(**ends)
    fields |= known_of(fields.pop("trust", ""))
    return Hit(**{"server_name": name, "summary": summary, "runs": runs, "flags": flags, **fields})


def registered_name(record: bytes) -> str:
    name: str | None = _others(record).get("registered")
    return orjson.loads(b"{%s}" % record.partition(b"\n")[0])["name"] if name is None else name


def hits_of(
    records: Iterable[bytes],
    reasons: Callable[[], Sequence[str]] = tuple,
    tools: Callable[[], Sequence[Sequence[OfferedTool]]] = tuple,
) -> Hits:
    """Return the hits in `records`, which are decoded when they are read. `reasons` and `tools` return theirs."""
    given = tuple(records)
    # This takes a quarter of the time of adding their lengths.
    return Hits(
        given, decode_hit, lambda: [record[_ID].decode() for record in given], len(b"".join(given)), reasons, tools
    )


def without_names(records: Sequence[bytes], sees: Callable[[str], bool]) -> list[bytes]:
    """Return `records` without the names of entries in place of others with an id for which `sees` returns False."""
    shown = [*records]
    for place, record in enumerate(records):
        hit = decode_hit(record) if _ENDS in record else None
        if hit is not None and hit.ends is not None and hit.ends.mcp_id and not sees(hit.ends.mcp_id):
            shown[place] = encode_hit(evolve(hit, ends=hit.ends.alone()), registered_name(record))
    return shown


def found_page(hits: Hits, users: Mapping[str, int]) -> bytes:
    """Return an encoded object with the hits and their number, for a tool.

    The hits have the IDENTIFIED fields. The FULL first ones also have the known facts, `matches` with the reason,
    `matching_tools` and `used_by`: how many accounts use the entry, which `users` has by the id. Their brief is the
    summary. Later ones have the shorter of brief and summary. A model reads the month of the last update only. All hits
    have their ends and the flags of marks.
    """
    reasons, tools = hits.reasons()[:FULL], hits.tools()[:FULL]
    items = [_with_brief(record, _SHORTER, _LONGER) + _facts(record) for record in hits.records[:FULL]]
    for place, reason in enumerate(reasons):
        if reason:
            items[place] += b',"matches":%s' % encode(reason)
    for place, named in enumerate(tools):
        if named:
            items[place] += b',"matching_tools":%s' % encode(tool_views(named))
    for place, mcp_id in enumerate(hits.ids()[:FULL] if users else ()):
        if mcp_id in users:
            items[place] += b',"used_by":%d' % users[mcp_id]
    items += [_with_brief(record, _SHORTER) + _warnings(record) for record in hits.records[FULL:]]
    return _page(b'{"success":true,', items)


def listed_page(records: Sequence[bytes]) -> bytes:
    """Return an encoded object with the LISTED fields of hits, and their number."""
    return _page(b"{", [record[_LISTED:].partition(b"\n")[0] for record in records])


def _page(before: bytes, members: Sequence[bytes]) -> bytes:
    items = b"{%s}" % b"},{".join(members) if members else b""
    return b'%s"data":[%s],"count":%d}' % (before, items, len(members))


def _members(values: Mapping[str, Any]) -> bytes:
    return encode(values)[1:-1]


def _others(record: bytes) -> dict[str, Any]:
    """Return the members in the third line of a record."""
    line = record.rpartition(b"\n")[2]
    others: dict[str, Any] = orjson.loads(b"{%s}" % line) if line else {}
    return others


def _facts(record: bytes) -> bytes:
    """Return the second line of a record, with the month of the last update instead of the day."""
    before, name, rest = record.split(b"\n")[1].partition(_UPDATED)
    return b"".join((before, name, rest[:_MONTH], rest[_MONTH + len("-11") :]))


def _warnings(record: bytes) -> bytes:
    """Return the end and the flags in the second line of a record, which are its last members."""
    line = record.split(b"\n")[1]
    _, name, rest = line.partition(_ENDS)
    if not name:
        _, name, rest = line.partition(_FLAGS)
    return name + rest


def _with_brief(record: bytes, *summaries: str) -> bytes:
    """Return the first line of a record, with one of `summaries` as brief if the third line has it."""
    first, _, third = record.partition(b"\n")
    if third.endswith(b"\n"):
        return first
    others = _others(record)
    for name in summaries:
        if name in others:
            before, _, after = first.partition(_BRIEF)
            return b"".join((before, _BRIEF, encode(others[name]), _URL, after.rpartition(_URL)[2]))
    return first
