"""Merges of postings: the cost depends on the postings, not on the number of documents.

Postings are document numbers of one segment, and a score for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from threading import local

import numpy as np
from attrs import define, field

from . import arrays
from .arrays import Bools, Doubles, Floats, Ints, Longs, Offsets, Shorts

Postings = tuple[Ints, Floats]
"""Document numbers in a segment, each once, and a score for each."""

NO_POSTINGS: Postings = np.empty(0, np.int32), np.empty(0, np.float32)

MAX_POSTINGS = 2**32 - 1
"""Postings of a segment, which offsets of 32 bits can address."""

UNIT = 1 << 15
"""The stored impact that is 1."""

MANY = 50_000
"""Terms of a segment from which they are looked up by bisection: a dict of them would take 100 bytes for each."""

CHUNK = 1_000_000
"""Postings that are copied or read at a time when all of a segment are."""

_SCALE = np.float32(1 / UNIT)


@define(eq=False)
class PostingLists:
    """The postings of all terms of a segment with so many `documents`.

    Those of `term` are the items of `doc_ids` and `impacts` (in units of 1 / UNIT) from starts[term] to
    starts[term + 1], sorted by document. The last term has no postings and stands for all newer ones. A small segment
    has few of all terms: where `known`, sorted, is not None, `starts` is by the place of a term in it.
    """

    starts: Offsets
    doc_ids: Ints
    impacts: Shorts
    documents: int
    known: Ints | None = None
    _places: dict[int, int] = field(init=False, repr=False)
    _starts: memoryview = field(init=False, repr=False)
    """`starts`, of which an item takes a third of the time."""

    @_places.default
    def _dict_of_known(self) -> dict[int, int]:
        if self.known is None or len(self.known) > MANY:
            return {}
        return {term: place for place, term in enumerate(self.known.tolist())}

    @_starts.default
    def _view_of_starts(self) -> memoryview:
        return memoryview(self.starts.data)

    def __len__(self) -> int:
        return len(self.doc_ids)

    @property
    def is_whole(self) -> bool:
        """Return whether `starts` is by term."""
        return self.known is None

    def lacks_all(self, terms: Iterable[int]) -> bool:
        """Return whether a small segment has no postings of any of `terms`; False for others."""
        return self.known is not None and len(self.known) <= MANY and self._places.keys().isdisjoint(terms)

    def documents_with(self, term: int) -> Ints:
        """Return the sorted numbers of the documents with `term`."""
        row, starts = self.row(term), self._starts
        return self.doc_ids[starts[row] : starts[row + 1]]

    def scores_of(self, term: int, weight: float) -> Postings:
        """Return the postings of one term."""
        term = self.row(term)
        if self.known is not None and term == len(self.known):
            return NO_POSTINGS
        span = slice(self.starts[term], self.starts[term + 1])
        return self.doc_ids[span], np.float32(weight) * (self.impacts[span] * _SCALE)

    def best_of(self, terms: Longs, weights: Doubles) -> Postings:
        """Return the documents with any of `terms`, each with its best weighted impact."""
        terms = self.rows(terms)
        doc_ids, impacts, counts = self._concatenated(terms)
        scores = np.repeat(weights.astype(np.float32), counts) * impacts
        distinct = _scratch.distinct(doc_ids, self.documents)
        best = _scratch.scores
        best[distinct] = -np.inf
        np.maximum.at(best, doc_ids, scores)
        return distinct, best[distinct]

    def least_of(self, terms: Longs, weights: Doubles) -> Postings:
        """Return the documents with all of `terms`, each with its least weighted impact."""
        terms = self.rows(terms)
        doc_ids, impacts, counts = self._concatenated(terms)
        scores = np.repeat(weights.astype(np.float32), counts) * impacts
        distinct = _scratch.distinct(doc_ids, self.documents)
        least, held = _scratch.scores, _scratch.totals
        least[distinct], held[distinct] = np.inf, 0
        np.minimum.at(least, doc_ids, scores)
        np.add.at(held, doc_ids, 1)
        distinct = distinct[held[distinct] == len(terms)]
        return distinct, least[distinct]

    def sum_of(self, terms: Longs, weights: Doubles) -> Postings:
        """Return the documents with any of `terms`, each with the sum of its weighted impacts."""
        terms = self.rows(terms)
        doc_ids, impacts, counts = self._concatenated(terms)
        return _sums(doc_ids, np.repeat(weights, counts) * impacts, self.documents)

    def frequencies(self, terms: Longs) -> Longs:
        """Return the number of postings of each of `terms`."""
        terms = self.rows(terms)
        return self.starts[terms + 1].astype(np.int64) - self.starts[terms]

    def frequency(self, term: int) -> int:
        """Return the number of postings of `term`."""
        row, starts = self.row(term), self._starts
        found: int = starts[row + 1] - starts[row]
        return found

    def _concatenated(self, terms: Longs) -> tuple[Ints, Floats, Longs]:
        """Return the documents and impacts of `terms`, concatenated, and the number of postings of each."""
        starts = self.starts[terms].astype(np.int64)
        counts = self.starts[terms + 1] - starts
        # The offset from the first posting of the term is the same in the segment and in the result.
        places = np.arange(int(counts.sum())) + np.repeat(starts - np.cumsum(counts) + counts, counts)
        return self.doc_ids[places], self.impacts[places] * _SCALE, counts

    def row(self, term: int) -> int:
        """Return the place of `term` in `starts`."""
        last = len(self.starts) - 2
        if self.known is None:
            return min(term, last)
        if last <= MANY:
            return self._places.get(term, last)
        place = int(self.known.searchsorted(np.int32(term)))
        return place if place < last and self.known[place] == term else last

    def rows(self, terms: Longs) -> Longs:
        """Return the places of `terms` in `starts`."""
        last = len(self.starts) - 2
        if self.known is None:
            return np.minimum(terms, last)
        if not last:
            return np.zeros(len(terms), np.int64)
        places = np.minimum(self.known.searchsorted(terms.astype(np.int32)), last - 1)
        return np.where(self.known[places] == terms, places, last)

    def counts(self, places: slice = slice(None)) -> Longs:
        """Return the number of postings of each of `places` in `starts`, of which the last one has none."""
        starts = self.starts[:-1][places]
        found: Longs = np.diff(starts, append=self.starts[starts.size + (places.start or 0)]).astype(np.int64)
        return found

    def chunks(self) -> Iterator[tuple[slice, slice]]:
        """Yield places in `starts`, and their postings: about CHUNK at a time."""
        begin, last = 0, len(self.starts) - 2
        while begin < last:
            first = int(self.starts[begin])
            most = np.uint32(min(first + CHUNK, MAX_POSTINGS))
            end = min(max(int(np.searchsorted(self.starts, most, side="right")) - 1, begin + 1), last)
            yield slice(begin, end), slice(first, int(self.starts[end]))
            begin = end

    def terms_at(self, places: slice) -> Longs:
        """Return the terms of `places` in `starts`."""
        return np.arange(places.start, places.stop) if self.known is None else self.known[places].astype(np.int64)


def add_up(parts: Sequence[Postings], documents: int) -> Postings:
    """Return each document of `parts` once, with the sum of its scores. A segment has so many `documents`."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return NO_POSTINGS
    doc_ids = np.concatenate([doc_ids for doc_ids, _ in parts])
    return _sums(doc_ids, np.concatenate([scores for _, scores in parts]).astype(np.float64), documents)


def best(parts: Sequence[Postings]) -> Postings:
    """Return each document of a few `parts` once, with its best score."""
    doc_ids, places = np.unique(np.concatenate([doc_ids for doc_ids, _ in parts]), return_inverse=True)
    scores = np.zeros(len(doc_ids), np.float32)
    np.maximum.at(scores, places, np.concatenate([scores for _, scores in parts]))
    return doc_ids, scores


def scaled(parts: Sequence[Postings], max_score: float) -> list[Postings]:
    """Return the postings of each segment with scores in proportion, so that the greatest of all is `max_score`."""
    most = max((float(scores.max(initial=0)) for _, scores in parts), default=0.0)
    share = np.float32(max_score / most) if most else np.float32(0)
    return [(doc_ids, scores * share) for doc_ids, scores in parts]


def with_priors(postings: Postings, live: Bools, priors: Floats, share: float, most: float) -> Postings:
    """Return the live documents of `postings`, and their scores with priors.

    A prior adds `share` times itself times the score, of which at most `most` counts.
    """
    doc_ids, scores = postings
    is_live = live[doc_ids]
    doc_ids, scores = doc_ids[is_live], scores[is_live]
    return doc_ids, scores + np.minimum(scores, np.float32(most)) * (np.float32(share) * priors[doc_ids])


def contains(doc_ids: Ints, wanted: Ints) -> Bools:
    """Return for each of `wanted` whether it is one of `doc_ids`, which are sorted."""
    if arrays.engine is not None:
        return np.frombuffer(arrays.engine.contains(doc_ids, wanted), np.bool_)
    if not len(doc_ids):
        return np.zeros(len(wanted), bool)
    places = np.minimum(np.searchsorted(doc_ids, wanted), len(doc_ids) - 1)
    found: Bools = doc_ids[places] == wanted
    return found


class _Scratch(local):
    """Arrays of one thread, by document number. A merge sets what it reads, so they are never cleared."""

    def __init__(self) -> None:
        self.first = np.empty(0, np.int64)
        self.totals = np.empty(0, np.float64)
        self.scores = np.empty(0, np.float32)

    def distinct(self, doc_ids: Ints, documents: int) -> Ints:
        """Return the different numbers in `doc_ids` by their first occurrence. The arrays fit so many `documents`."""
        if len(self.first) < documents:
            # The next power of two: a growing index does not replace the arrays each time.
            size = 1 << documents.bit_length()
            self.first, self.totals = np.empty(size, np.int64), np.empty(size, np.float64)
            self.scores = np.empty(size, np.float32)
        order = np.arange(len(doc_ids))
        # Of several assignments to one item, the last one stays.
        self.first[doc_ids[::-1]] = order[::-1]
        found: Ints = doc_ids[self.first[doc_ids] == order]
        return found


_scratch = _Scratch()


def _sums(doc_ids: Ints, scores: Doubles, documents: int) -> Postings:
    distinct = _scratch.distinct(doc_ids, documents)
    totals = _scratch.totals
    totals[distinct] = 0
    np.add.at(totals, doc_ids, scores)
    return distinct, totals[distinct].astype(np.float32)
