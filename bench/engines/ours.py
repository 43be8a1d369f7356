"""Our search engine on the entries of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry
from directory_server.domain.ports.search import Index
from directory_server.domain.search import Likeness, Query
from directory_server.domain.verification import PackageTexts
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, MappedIndexFile, TextAnalysis
from directory_server.serialization import encode_entry, encode_texts

from .baselines import DEPTH, Engine

LOG = "benchmark"
"""The id of the change log in the file of the index."""


def our_index(
    entries: Sequence[Entry],
    verification: Callable[[Entry], bytes | None] = lambda _: None,
    texts: Mapping[str, PackageTexts] = {},
) -> ImpactIndex:
    """Return our index of `entries`.

    `verification` returns what checks of an entry have found. `texts` are those of packages, by the ids of entries.
    """
    index, analysis = ImpactIndex(inline), TextAnalysis()
    encoded = {mcp_id: encode_texts(each) for mcp_id, each in texts.items()}
    changes = [
        Change(
            seq,
            "added",
            e.mcp_id,
            encode_entry(e),
            analysis(e),
            verified=verification(e),
            texts=encoded.get(e.mcp_id),
        )
        for seq, e in enumerate(entries, 1)
    ]
    run_sync(index.apply(changes))
    return index


def mapped_index(entries: Sequence[Entry], folder: Path) -> Index:
    """Return our index of `entries`, mapped from a file in `folder`; build and write it if there is none."""
    index = ImpactIndex(inline)
    file = MappedIndexFile(index, folder)
    try:
        file.read(LOG)
    except FileNotFoundError:
        built = MappedIndexFile(our_index(entries), folder)
        built.write(LOG, len(entries), "")
        file.read(LOG)
    file.adopt()
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
