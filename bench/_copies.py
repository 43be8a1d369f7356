"""More entries than there are: the analysed ones again, under other names and each with a word of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from attrs import evolve

from directory_server.domain.changes import Change
from directory_server.domain.entries import mcp_id_of
from directory_server.search.index.document import FACET, WEIGHT
from directory_server.search.index.packing import pack, unpack


def copies(changes: Sequence[Change], number: int) -> Iterator[Change]:
    """Yield `changes` and, as often as it takes to make `number` of them, copies that differ in their names."""
    for count in range(number):
        change = changes[count % len(changes)]
        yield change if count < len(changes) else _copy(change, f"x{count // len(changes)}")


def _copy(change: Change, suffix: str) -> Change:
    if change.analysed is None:
        return change
    made = unpack(change.analysed)
    name = made.row.name + suffix
    row = evolve(made.row, name=name, mcp_id=mcp_id_of(name), hit=evolve(made.row.hit, mcp_id=mcp_id_of(name)))
    # Facets are FACET and their name; what else is marked is a name.
    special_terms = [term if term.startswith(_FACETS) else term + suffix for term in made.special_terms]
    words = f"{made.words} {change.mcp_id[:8]}{suffix}"
    weights = made.weights + np.ones(1, WEIGHT).tobytes()
    copy = evolve(made, row=row, words=words, weights=weights, special_terms=special_terms)
    return Change(change.seq, change.kind, row.mcp_id, None, pack(copy))


_FACETS = tuple(f"{FACET}{name}:" for name in ("tag", "package", "transport", "official"))
