"""Search records: the fields of each hit that a client requested."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ..domain.errors import BadInput
from ..domain.search import PAGE_BYTES
from ..domain.versions import Version
from ..domain.views import Detail, Hit
from ._entries import restore_entry
from ._json import encode

FIELDS = tuple(each.name for each in attrs.fields(Detail))
"""All fields: those of the detail of an entry."""

HIT_FIELDS = frozenset(each.name for each in attrs.fields(Hit))
"""Fields in the index, for which no entry is read from the store."""


def fields_of(text: str) -> Sequence[str]:
    """Return the field names in the comma-separated `text`, without duplicates. Raises BadInput."""
    names = text.split(",")
    for name in names:
        if name not in FIELDS:
            raise BadInput(f"fields: has {name[:50]!r}; it must be a list of these, with commas: {','.join(FIELDS)}.")
    return tuple(dict.fromkeys(names))


def hit_records(hits: Sequence[Hit], fields: Sequence[str]) -> Sequence[bytes]:
    """Return the encoded `fields` of each hit."""
    return [encode({name: getattr(hit, name) for name in fields}) for hit in hits]


def detail_records(versions: Sequence[Version], fields: Sequence[str]) -> Sequence[bytes]:
    """Return the encoded `fields` of the first entries, until they have PAGE_BYTES or more."""
    records: list[bytes] = []
    size = 0
    for version in versions:
        detail = restore_entry(version.body).detail()
        records.append(encode({name: getattr(detail, name) for name in fields}))
        size += len(records[-1])
        if size >= PAGE_BYTES:
            break
    return records
