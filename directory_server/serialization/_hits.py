"""Records of hits: the stored form, of which the responses to searches are joined without decoding.

A record has three lines. The first has the members of a JSON object with the IDENTIFIED fields, without its braces. The
second has a comma and the members of the facts that are known, or nothing. The third has what else a hit needs, and is
empty for most entries: the registered name if it is not the name of the hit, and the name of the server if it is not
the registered one. JSON has no line breaks inside strings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import orjson

from ..domain.licenses import UNKNOWN
from ..domain.search import Hits
from ..domain.tools import OfferedTool
from ..domain.verification import VerifiedStatus
from ..domain.views import ACTIVE, Hit
from ._entries import tool_views
from ._json import encode
from ._responses import identified

_LISTED = len('"mcp_id":"123e4567-e89b-52d3-a456-426614174000",')
"""Bytes of a record before the LISTED fields. All ids are UUIDs and equally long."""


def encode_hit(hit: Hit, name: str) -> bytes:
    """Return the record of `hit`, an entry with the registered `name`."""
    others = [None if name == hit.name else name, None if hit.server_name == name else hit.server_name]
    known = {
        "auth": hit.auth != UNKNOWN,
        "runs": bool(hit.runs),
        "verified": hit.verified != VerifiedStatus.UNVERIFIED,
        "status": hit.status != ACTIVE,
        "status_message": bool(hit.status_message),
    }
    facts = {name: getattr(hit, name) for name, is_known in known.items() if is_known}
    lines = (
        encode(identified(hit))[1:-1],
        b"," + encode(facts)[1:-1] if facts else b"",
        encode(others) if any(each is not None for each in others) else b"",
    )
    return b"\n".join(lines)


def decode_hit(record: bytes) -> Hit:
    """Return the hit in a record."""
    return _decode(record)[0]


def registered_name(record: bytes) -> str:
    """Return the registered name in a record."""
    first, _, third = record.split(b"\n")
    name: str | None = orjson.loads(third)[0] if third else None
    return orjson.loads(b"{%s}" % first)["name"] if name is None else name


def hits_of(
    records: Iterable[bytes],
    reasons: Callable[[], Sequence[str]] = tuple,
    tools: Callable[[], Sequence[Sequence[OfferedTool]]] = tuple,
) -> Hits:
    """Return the hits in `records`, which are decoded when they are read. `reasons` and `tools` return theirs."""
    given = tuple(records)
    # This takes a quarter of the time of adding their lengths.
    return Hits(given, decode_hit, len(b"".join(given)), reasons, tools)


def found_page(hits: Hits) -> bytes:
    """Return an encoded object with the hits and their number, for a tool.

    The hits have the IDENTIFIED fields, the known facts, `matches` with the reason, and `matching_tools`.
    """
    endings: tuple[bytes, ...] = ()
    if reasons := hits.reasons():
        encoded = {reason: b',"matches":%s' % encode(reason) if reason else b"" for reason in {*reasons}}
        endings = tuple(map(encoded.__getitem__, reasons))
    if tools := hits.tools():
        named = (b',"matching_tools":%s' % encode(tool_views(each)) if each else b"" for each in tools)
        endings = tuple(map(bytes.__add__, endings, named)) if endings else tuple(named)
    # The first two lines of each record are joined. This takes less time than split().
    items = [record.rpartition(b"\n")[0] for record in hits.records]
    return _page(b'{"success":true,', list(map(bytes.__add__, items, endings)) if endings else items).replace(
        b"\n", b""
    )


def listed_page(records: Sequence[bytes]) -> bytes:
    """Return an encoded object with the LISTED fields of hits, and their number."""
    return _page(b"{", [record[_LISTED:].partition(b"\n")[0] for record in records])


def _page(before: bytes, members: Sequence[bytes]) -> bytes:
    items = b"{%s}" % b"},{".join(members) if members else b""
    return b'%s"data":[%s],"count":%d}' % (before, items, len(members))


def _decode(record: bytes) -> tuple[Hit, str]:
    first, second, third = record.split(b"\n")
    fields = orjson.loads(b"{%s%s}" % (first, second))
    name, server_name = orjson.loads(third) if third else (None, None)
    name = fields["name"] if name is None else name
    fields["runs"] = tuple(fields.get("runs", ()))
    return Hit(**fields, server_name=name if server_name is None else server_name), name
