"""The postings of a segment by term, and those of several segments as one, without sorting them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from attrs import frozen

from .arrays import Bools, Ints, Longs, Shorts
from .memory import Keep, in_memory
from .merging import PostingLists


@frozen(eq=False)
class Joined:
    """Postings by term: those of the term `known[place]` are the next counts[place] items of the arrays.

    `known` is None where a place is a term.
    """

    known: Longs | None
    counts: Longs
    doc_ids: Ints
    impacts: Shorts


@frozen(eq=False)
class Source:
    """The postings of the live documents of a segment, whose documents get numbers from `first` on.

    Terms are renumbered by `mapping`.
    """

    lists: PostingLists
    live: Bools
    first: int
    mapping: Ints | None = None

    def counts(self) -> Iterator[tuple[Longs, Longs]]:
        """Yield terms that have postings, and the number of postings of each."""
        are_all = self.live.all()
        for places, postings in self.lists.chunks():
            counts = self.lists.counts(places)
            if not are_all:
                counts = sums(self.live[self.lists.doc_ids[postings]], counts)
            filled = np.flatnonzero(counts)
            yield self._terms(places)[filled], counts[filled]

    def postings(self) -> Iterator[tuple[Longs, Longs, Ints, Shorts]]:
        """Yield terms, the number of postings of each, and these postings with the new numbers of documents."""
        new_ids = np.cumsum(self.live, dtype=np.int32) + np.int32(self.first - 1)
        for places, postings in self.lists.chunks():
            counts = self.lists.counts(places)
            old, impacts = self.lists.doc_ids[postings], self.lists.impacts[postings]
            kept = self.live[old]
            if not kept.all():
                old, impacts, counts = old[kept], impacts[kept], sums(kept, counts)
            filled = np.flatnonzero(counts)
            yield self._terms(places)[filled], counts[filled], new_ids[old], impacts

    def _terms(self, places: slice) -> Longs:
        terms = self.lists.terms_at(places)
        return terms if self.mapping is None else self.mapping[terms].astype(np.int64)


def joined(
    parts: Sequence[tuple[PostingLists, Bools]],
    mapping: Ints | None = None,
    size: int | None = None,
    keep: Keep = in_memory,
) -> Joined:
    """Return the postings of the live documents of `parts`, by ascending term, those of a term by document.

    Each part is posting lists with the live documents. Terms are renumbered by `mapping`. With a `size` there are so
    many terms, and a place for each of them.
    """
    sources, first = [], 0
    for lists, live in parts:
        sources.append(Source(lists, live, first, mapping))
        first += int(np.count_nonzero(live))
    known = None
    if size is None:
        every = [terms for source in sources for terms, _ in source.counts()]
        known = np.unique(np.concatenate([np.empty(0, np.int64), *every]))

    def places_of(terms: Longs) -> Longs:
        return terms if known is None else np.searchsorted(known, terms)

    counts = np.zeros(len(known) if known is not None else size or 0, np.int64)
    for source in sources:
        for terms, added in source.counts():
            counts[places_of(terms)] += added
        keep.forget()
    total = int(counts.sum())
    doc_ids, impacts = keep.empty(total, np.int32), keep.empty(total, np.uint16)
    targets = np.cumsum(counts) - counts
    for source in sources:
        for terms, added, ids, weights in source.postings():
            places = places_of(terms)
            # The offset from the first posting of a term is the same in both.
            moved = targets[places] - (np.cumsum(added) - added)
            to = np.arange(len(ids)) + np.repeat(moved, added)
            doc_ids[to], impacts[to] = ids, weights
            targets[places] += added
            keep.forget()
    return Joined(known, counts, doc_ids, impacts)


def grouped(terms: Ints, doc_ids: Ints, impacts: Shorts) -> Joined:
    """Return postings by ascending term, those of a term in the given order."""
    order = np.argsort(terms, kind="stable")
    known, counts = np.unique(terms, return_counts=True)
    return Joined(known.astype(np.int64), counts, doc_ids[order], impacts[order])


def sums(flags: Bools, counts: Longs) -> Longs:
    """Return how many of the next counts[number] of `flags` are true, for each number."""
    found = np.zeros(len(counts), np.int64)
    filled = np.flatnonzero(counts)
    if len(filled):
        found[filled] = np.add.reduceat(flags, (np.cumsum(counts) - counts)[filled], dtype=np.int64)
    return found
