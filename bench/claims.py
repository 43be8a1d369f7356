"""Measure the search by representative queries of publishers (ARD v0.9, section 4.2), in the way of ARD-Bench.

    python -m bench.claims          the half of the made entries that is for work
    python -m bench.claims --held   also the half that is held back

Entries that were made for this, on topics of no table of words, are sought by their own queries: alone, and among the
real catalogue. Their queries are no claims, claims, or each is sought while the two others are claims.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

from attrs import evolve, frozen

from directory_server.domain.changes import Change
from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.domain.ports.search import Index
from directory_server.domain.search import Query
from directory_server.runtime.run_sync import run_sync
from directory_server.search import TextAnalysis
from directory_server.search.index.claims import QUERIES
from directory_server.serialization import encode_entry

from .catalogue.files import REAL, read_entries
from .catalogue.sets import HELD, SETS, WORK
from .engines.ours import our_index

MADE = SETS.parent / "search" / "unseen_entries.jsonl"

DEPTH = 10


@frozen
class Made:
    """An entry and the queries of its publisher."""

    entry: Entry
    queries: Sequence[str]


def read_made(halves: Iterable[str], path: Path = MADE) -> Sequence[Made]:
    """Return the made entries of `halves`."""
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return [
        Made(Entry({"name": row["name"], "version": "1.0.0", "description": row["description"]}), row["queries"])
        for row in rows
        if row["half"] in halves
    ]


def claiming(entry: Entry, queries: Sequence[str]) -> Entry:
    """Return `entry` with `queries` as its representative ones."""
    return evolve(entry, server={**entry.server, "_meta": {PUBLISHER: {**entry.publisher, QUERIES: [*queries]}}})


def publish(index: Index, entries: Iterable[Entry]) -> None:
    """Add or change `entries` in `index`."""
    analysis = TextAnalysis()
    changes = [Change(1, "changed", entry.mcp_id, encode_entry(entry), analysis(entry)) for entry in entries]
    run_sync(index.apply(changes))


def first_names(index: Index, query: str) -> Sequence[str]:
    """Return the names of the first hits for `query`."""
    return [hit.server_name for hit in run_sync(index.search(Query(query, limit=DEPTH))).hits]


def found_shares(index: Index, made: Sequence[Made]) -> Iterator[tuple[str, float, float]]:
    """Yield how queries of `made` are claims in `index`, their recall@10 and their mean reciprocal rank."""
    count = len(made[0].queries)
    for label, claims in (
        ("no claims", [lambda queries, at: ()]),
        ("all are claims", [lambda queries, at: queries]),
        ("the two others", [lambda queries, at: [*queries[:at], *queries[at + 1 :]]] * count),
    ):
        ranks = list[int]()
        for at, claimed in enumerate(claims):
            publish(index, (claiming(each.entry, claimed(each.queries, at)) for each in made))
            for each in made:
                for query in each.queries if len(claims) == 1 else [each.queries[at]]:
                    names = first_names(index, query)
                    ranks.append(names.index(each.entry.name) + 1 if each.entry.name in names else 0)
        yield label, fmean(rank > 0 for rank in ranks), fmean(1 / rank if rank else 0.0 for rank in ranks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=Path, default=REAL, help="gzipped JSON Lines of entries")
    parser.add_argument("--held", action="store_true", help="also the half that is held back")
    options = parser.parse_args()
    entries = read_entries(options.entries)
    real = our_index(entries)
    for half in (WORK, HELD) if options.held else (WORK,):
        made = read_made([half])
        for catalogue, index in (("alone", our_index([])), (f"among {len(entries):,}", real)):
            for label, recall, rank in found_shares(index, made):
                print(f"{half}  {catalogue:14}  {label:14}  recall@{DEPTH} {recall:.3f}  reciprocal rank {rank:.3f}")


if __name__ == "__main__":
    main()
