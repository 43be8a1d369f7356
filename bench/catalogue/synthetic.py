"""Synthetic entries: the real ones repeated under other names, each with a word of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from attrs import evolve

from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry, mcp_id_of
from directory_server.search.index.document import DESCRIBED, WEIGHT
from directory_server.search.index.facets import FACET
from directory_server.search.index.packing import TextAnalysis, pack, unpack

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


class SyntheticAnalysis:
    """Implement the Analysis port for `synthetic_entries(entries, …)`.

    The documents of `entries` are analysed once. Those of their repeats are edited, which takes a third of the time.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._analysis = TextAnalysis()
        self._entries = {entry.name: entry for entry in entries}
        self._packed: dict[str, bytes] = {}

    @property
    def version(self) -> str:
        return self._analysis.version

    def __call__(self, entry: Entry) -> bytes:
        suffix = f"x{entry.brief.rpartition('x')[2]}"
        original = self._entries.get(entry.name.removesuffix(suffix))
        if original is None or original.name == entry.name:
            return self._analysis(entry)
        if original.name not in self._packed:
            self._packed[original.name] = self._analysis(original)
        return _renamed_document(self._packed[original.name], original.mcp_id, suffix)


def _renamed(change: Change, suffix: str) -> Change:
    if change.analysed is None:
        return change
    packed = _renamed_document(change.analysed, change.mcp_id, suffix)
    return Change(change.seq, change.kind, unpack(packed).row.mcp_id, None, packed)


def _renamed_document(packed: bytes, mcp_id: str, suffix: str) -> bytes:
    """Return the packed document of the entry `mcp_id` with `suffix` after its name, and a word of its own."""
    document = unpack(packed)
    name = document.row.name + suffix
    new_id = mcp_id_of(name)
    row = evolve(document.row, name=name, mcp_id=new_id, hit=evolve(document.row.hit, mcp_id=new_id, server_name=name))
    # Special terms are facets and names. Names get the suffix.
    special_terms = [term if term.startswith(_FACETS) else term + suffix for term in document.special_terms]
    return pack(
        evolve(
            document,
            row=row,
            terms=[*document.terms, f"{mcp_id[:8]}{suffix}"],
            weights=document.weights + np.ones(1, WEIGHT).tobytes(),
            flags=document.flags + bytes([DESCRIBED]),
            special_terms=special_terms,
        )
    )
