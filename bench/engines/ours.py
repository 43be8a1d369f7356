"""Our search engine on the entries of a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry
from directory_server.domain.ports.search import Index
from directory_server.domain.search import Likeness, Query
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, TextAnalysis
from directory_server.serialization import encode_entry

from .baselines import DEPTH, Engine


def our_index(entries: Sequence[Entry]) -> ImpactIndex:
    """Return our index of `entries`."""
    index, analysis = ImpactIndex(inline), TextAnalysis()
    changes = [Change(seq, "added", e.mcp_id, encode_entry(e), analysis(e)) for seq, e in enumerate(entries, 1)]
    run_sync(index.apply(changes))
    return index


def no_likeness(keywords: str) -> Likeness | None:
    """Return nothing."""
    return None


def our_engine(
    index: Index, entries: Sequence[Entry], likeness: Callable[[str], Likeness | None] = no_likeness
) -> Engine:
    """Return an engine that searches `index`, which contains `entries`, also by the `likeness` for keywords."""
    names = {entry.mcp_id: entry.name for entry in entries}

    def search(q: str) -> Sequence[str]:
        return [names[hit.mcp_id] for hit in run_sync(index.search(Query(q, limit=DEPTH, likeness=likeness(q)))).hits]

    return search
