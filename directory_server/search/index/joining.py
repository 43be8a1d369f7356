"""The postings of a segment by term, and those of several segments as one, without sorting them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen

from .arrays import Bools, Ints, Longs, Shorts
from .memory import Keep, in_memory
from .merging import PostingLists

CHUNK = 2_000_000
"""Postings that are copied at a time."""


@frozen(eq=False)
class Joined:
    """Postings by term: those of the term `known[place]` are the next counts[place] items of the arrays."""

    known: Longs
    counts: Longs
    doc_ids: Ints
    impacts: Shorts


@frozen(eq=False)
class Source:
    """The postings of the live documents of a segment, whose documents get numbers from `first` on.

    `terms` are those with a posting, `places` theirs in the lists, and `counts` the number of their postings.
    """

    lists: PostingLists
    live: Bools
    first: int
    terms: Longs
    places: Longs
    counts: Longs

    @classmethod
    def of(cls, lists: PostingLists, live: Bools, first: int) -> Source:
        """Return the source of the `live` documents of a segment."""
        counts = lists.counts()
        if not live.all():
            counts = sums(live[lists.doc_ids], counts)
        places = np.flatnonzero(counts)
        terms = places if lists.known is None else lists.known[places].astype(np.int64)
        return cls(lists, live, first, terms, places, counts[places])

    def copy(self, targets: Longs, doc_ids: Ints, impacts: Shorts) -> None:
        """Copy the postings of each term to the two arrays, from targets[number] on for terms[number]."""
        new_ids = np.cumsum(self.live, dtype=np.int32) + np.int32(self.first - 1)
        ends = np.cumsum(self.counts)
        begin = 0
        while begin < len(self.terms):
            done = int(ends[begin - 1]) if begin else 0
            end = max(int(np.searchsorted(ends, done + CHUNK, side="right")), begin + 1)
            span = slice(int(self.lists.starts[self.places[begin]]), int(self.lists.starts[self.places[end - 1] + 1]))
            old, weights = self.lists.doc_ids[span], self.lists.impacts[span]
            kept = self.live[old]
            if not kept.all():
                old, weights = old[kept], weights[kept]
            counts = self.counts[begin:end]
            # The offset from the first posting of a term is the same in both.
            moved = targets[begin:end] - (ends[begin:end] - counts - done)
            to = np.arange(len(old)) + np.repeat(moved, counts)
            doc_ids[to], impacts[to] = new_ids[old], weights
            begin = end


def joined(parts: Sequence[tuple[PostingLists, Bools]], mapping: Ints | None = None, keep: Keep = in_memory) -> Joined:
    """Return the postings of the live documents of `parts`, by ascending term, those of a term by document.

    Each part is posting lists with the live documents. Terms are renumbered by `mapping`.
    """
    sources, first = [], 0
    for lists, live in parts:
        sources.append(Source.of(lists, live, first))
        first += int(np.count_nonzero(live))
    numbers = [source.terms if mapping is None else mapping[source.terms].astype(np.int64) for source in sources]
    known = np.unique(np.concatenate(numbers))
    rows = [np.searchsorted(known, each) for each in numbers]
    counts = np.zeros(len(known), np.int64)
    for source, row in zip(sources, rows, strict=True):
        counts[row] += source.counts
    total = int(counts.sum())
    found = Joined(known, counts, np.empty(total, np.int32), np.empty(total, np.uint16))
    targets = np.cumsum(counts) - counts
    for source, row in zip(sources, rows, strict=True):
        source.copy(targets[row], found.doc_ids, found.impacts)
        targets[row] += source.counts
    return Joined(known, counts, keep(found.doc_ids), keep(found.impacts))


def grouped(terms: Ints, doc_ids: Ints, impacts: Shorts) -> Joined:
    """Return postings by ascending term, those of a term in the given order."""
    order = np.argsort(terms, kind="stable")
    known, counts = np.unique(terms, return_counts=True)
    return Joined(known.astype(np.int64), counts, doc_ids[order], impacts[order])


def live_terms(lists: PostingLists, live: Bools) -> Longs:
    """Return the terms of the live documents of a segment."""
    return Source.of(lists, live, 0).terms


def sums(flags: Bools, counts: Longs) -> Longs:
    """Return how many of the next counts[number] of `flags` are true, for each number."""
    found = np.zeros(len(counts), np.int64)
    filled = np.flatnonzero(counts)
    if len(filled):
        found[filled] = np.add.reduceat(flags, (np.cumsum(counts) - counts)[filled], dtype=np.int64)
    return found
