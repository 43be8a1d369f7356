"""Synthetic entries: the real ones repeated under other names, each with a word of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from attrs import evolve

from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry, mcp_id_of
from directory_server.search.index.document import FACET, WEIGHT
from directory_server.search.index.packing import pack, unpack

_FACETS = tuple(f"{FACET}{name}:" for name in ("tag", "package", "transport", "official"))


def synthetic_entries(entries: Sequence[Entry], count: int) -> Iterator[Entry]:
    """Yield `count` entries: `entries` in order, then again and again with other names.

    The names, and the one word that is added to each description, depend on the position only.
    """
    for position in range(count):
        repeat, number = divmod(position, len(entries))
        entry = entries[number]
        if repeat:
            brief = f"{entry.server.get('description', '')} {entry.mcp_id[:8]}x{repeat}"
            entry = evolve(entry, server={**entry.server, "name": f"{entry.name}x{repeat}", "description": brief})
        yield entry


def synthetic_changes(changes: Sequence[Change], count: int) -> Iterator[Change]:
    """Yield `count` changes: `changes` in order, then again and again with other names.

    The packed documents are edited, which is faster than the analysis of `synthetic_entries`. Removals are not edited.
    """
    for position in range(count):
        repeat, number = divmod(position, len(changes))
        yield _renamed(changes[number], f"x{repeat}") if repeat else changes[number]


def _renamed(change: Change, suffix: str) -> Change:
    if change.analysed is None:
        return change
    document = unpack(change.analysed)
    name = document.row.name + suffix
    mcp_id = mcp_id_of(name)
    row = evolve(document.row, name=name, mcp_id=mcp_id, hit=evolve(document.row.hit, mcp_id=mcp_id))
    # Special terms are facets and names. Names get the suffix.
    special_terms = [term if term.startswith(_FACETS) else term + suffix for term in document.special_terms]
    words = f"{document.words} {change.mcp_id[:8]}{suffix}"
    weights = document.weights + np.ones(1, WEIGHT).tobytes()
    renamed = evolve(document, row=row, words=words, weights=weights, special_terms=special_terms)
    return Change(change.seq, change.kind, mcp_id, None, pack(renamed))
