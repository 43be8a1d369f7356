"""Records of a search: the fields of each entry that a client names."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ..domain.entries import Detail, Hit
from ..domain.errors import BadInput
from ..domain.search import PAGE_BYTES
from ..domain.versions import Version
from ._entries import restore_entry
from ._json import encode

FIELDS = tuple(each.name for each in attrs.fields(Detail))
"""The fields that there are: those of an entry's detail."""

HIT_FIELDS = frozenset(each.name for each in attrs.fields(Hit))
"""Those of them that the index has, so that no entry need be read for them."""


def fields_of(text: str) -> Sequence[str]:
    """Return the names of fields that `text` lists, each once, in its order. Raises BadInput."""
    names = text.split(",")
    for name in names:
        if name not in FIELDS:
            raise BadInput(f"fields: has {name[:50]!r}; it must be a list of these, with commas: {','.join(FIELDS)}.")
    return tuple(dict.fromkeys(names))


def hit_records(hits: Sequence[Hit], fields: Sequence[str]) -> Sequence[bytes]:
    """Return the fields of hits, encoded."""
    return [encode({name: getattr(hit, name) for name in fields}) for hit in hits]


def detail_records(versions: Sequence[Version], fields: Sequence[str]) -> Sequence[bytes]:
    """Return the fields of the first of these entries, encoded: as many as PAGE_BYTES have room for."""
    records: list[bytes] = []
    size = 0
    for version in versions:
        detail = restore_entry(version.body).detail()
        records.append(encode({name: getattr(detail, name) for name in fields}))
        size += len(records[-1])
        if size >= PAGE_BYTES:
            break
    return records
