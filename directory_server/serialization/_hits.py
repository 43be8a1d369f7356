"""Records of hits: the stored form, of which the responses to searches are joined without decoding.

A record has three lines. The first has the members of a JSON object with the IDENTIFIED fields, without its braces. The
second has the members of the facts that are known. The third has what else a hit needs, and is empty for most entries:
the registered name if it is not the name of the hit, and the name of the server if it is not the registered one. JSON
has no line breaks inside strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import orjson

from ..domain.facts import UNKNOWN
from ..domain.search import Hits
from ..domain.views import Hit
from ._json import encode
from ._responses import identified

_LISTED = len('"mcp_id":"123e4567-e89b-52d3-a456-426614174000",')
"""Bytes of a record before the LISTED fields. All ids are UUIDs and equally long."""


def encode_hit(hit: Hit, name: str) -> bytes:
    """Return the record of `hit`, an entry with the registered `name`."""
    others = [None if name == hit.name else name, None if hit.server_name == name else hit.server_name]
    facts = {"auth": hit.auth} if hit.auth != UNKNOWN else {}
    lines = (
        encode(identified(hit))[1:-1],
        encode({**facts, **({"runs": hit.runs} if hit.runs else {})})[1:-1],
        encode(others) if any(each is not None for each in others) else b"",
    )
    return b"\n".join(lines)


def decode_hit(record: bytes) -> Hit:
    """Return the hit in a record."""
    return _decode(record)[0]


def registered_name(record: bytes) -> str:
    """Return the registered name in a record."""
    return _decode(record)[1]


def hits_of(records: Iterable[bytes]) -> Hits:
    """Return the hits in `records`, which are decoded when they are read."""
    return Hits(tuple(records), decode_hit)


def identified_items(records: Sequence[bytes]) -> orjson.Fragment:
    """Return an encoded array of objects with the IDENTIFIED fields."""
    # index() would take longer, because it has more arguments to parse.
    return _array([record.partition(b"\n")[0] for record in records])


def listed_items(records: Sequence[bytes]) -> orjson.Fragment:
    """Return an encoded array of objects with the LISTED fields."""
    return _array([record[_LISTED:].partition(b"\n")[0] for record in records])


def _array(members: Sequence[bytes]) -> orjson.Fragment:
    return orjson.Fragment(b"[{%s}]" % b"},{".join(members) if members else b"[]")


def _decode(record: bytes) -> tuple[Hit, str]:
    first, second, third = record.split(b"\n")
    fields = orjson.loads(b"{%s%s%s}" % (first, b"," if second else b"", second))
    name, server_name = orjson.loads(third) if third else (None, None)
    name = fields["name"] if name is None else name
    fields["runs"] = tuple(fields.get("runs", ()))
    return Hit(**fields, server_name=name if server_name is None else server_name), name
