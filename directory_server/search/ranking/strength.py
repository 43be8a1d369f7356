"""Strength: how well the first hits answer a query. Without a close match, only the first hits are kept.

Every query with a known word has matches. The strength says whether they have most of what was typed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from math import sqrt
from operator import itemgetter

import numpy as np
from attrs import frozen

from ...domain.search import CLOSE, STRONG, Position
from ..index.arrays import Doubles, Ints
from ..index.bm25 import inverse_document_frequency
from ..index.merging import Postings, contains
from ..index.segment import Segment
from ..query.concepts import TERM_DECAY
from ..query.groups import Part
from ..query.plan import Plan
from ..text.word_vectors import word_vectors
from .likeness import projections
from .scoring import PINNED_SCORE, Best, Ranked, ordered

KEPT = 10
"""The first hits, by which the strength is measured, and which are kept of a query without a close match."""

COUNTED, ENTRIES_EACH = 5, 5_000
"""Those of the first hits that answer best, of which the strength is the mean: one for so many entries, at most five.

One good hit of many entries may be chance. A small catalogue has one entry for most topics.
"""

MAX_WEIGHT = 7.6
"""The weight of a query (idf) that a hit has to cover at most: a long sentence has words beside its topic.

It is in units of the square root of the greatest weight of a word: words weigh less in a small catalogue.
"""

TRANSLATED = 0.6
"""The weight of what a hit does not cover of a translated query: not all words of other languages can be known."""

GENERAL = 0.25
"""The share of a part that its translation covers if only the dictionary has it, which does not know the domain."""

MAX_ALTERNATIVES = 16
"""Alternative terms of a part, and terms of a concept, that are looked up in the first hits, the heaviest first."""


@frozen
class Closest:
    """The hits of a page by relevance, the first KEPT of all pages, and the strength of the query."""

    ranked: list[Ranked]
    first: list[Ranked]
    strength: float


def closest(plan: Plan, segments: Sequence[Segment], best: Best, limit: int, after: Position | None) -> Closest:
    """Return what `best` returns for `limit` and `after`, of a weak query no hits behind the first KEPT."""
    found = best(max(limit, KEPT), None) if after is None else best(limit, after)
    first = (found if after is None else best(KEPT, None))[:KEPT]
    value = strength(plan, segments, first)
    if value < CLOSE:
        found = ordered([hit for hit in first if after is None or hit[0] <= after.score], segments, after)
    return Closest(found[:limit], first, value)


def kept(segments: Sequence[Segment], hits: Sequence[Ranked]) -> list[Postings]:
    """Return the postings of `hits` in each segment."""
    found = []
    for number in range(len(segments)):
        pairs = sorted((doc_id, score) for score, of, doc_id in hits if of == number)
        doc_ids, scores = [doc_id for doc_id, _ in pairs], [score for _, score in pairs]
        found.append((np.array(doc_ids, np.int32), np.array(scores, np.float32)))
    return found


def relevance(ranked: Sequence[Ranked], closest: Closest) -> Sequence[float]:
    """Return how well each of `ranked` answers its query, by its share of the score of the best hit."""
    best = max((_without_pin(score) for score, _, _ in closest.first), default=0.0)
    shares = [_without_pin(score) / best if best else 1.0 for score, _, _ in ranked]
    return [closest.strength * min(1.0, max(0.0, share)) for share in shares]


def _without_pin(score: float) -> float:
    return score - PINNED_SCORE if score >= PINNED_SCORE else score


def strength(plan: Plan, segments: Sequence[Segment], hits: Sequence[Ranked]) -> float:
    """Return how well the first KEPT of `hits` answer a query, from 0 to 1.

    It is the mean of the share of the query that a hit covers and of the cosine of their vectors. Names that equal the
    query or begin with it answer it fully, and so does any entry a query without words.
    """
    if plan.is_name or plan.filters_only:
        return 1.0
    if not hits:
        return 0.0
    first, size = _FirstHits(segments, hits[:KEPT]), sum(map(len, segments))
    counted = min(max(round(size / ENTRIES_EACH), 1), COUNTED)
    value = _mean_of_best(_coverage(plan, first, MAX_WEIGHT * sqrt(inverse_document_frequency(0, size))), counted)
    if plan.vector is not None:
        value = (value + _mean_of_best(_cosines(plan.vector, segments, hits[:KEPT]), counted)) / 2
    if value < STRONG and any(first.having(term) for group in plan.names for term, _ in _heaviest(group.terms)):
        return 1.0
    return value


def _cosines(vector: bytes, segments: Sequence[Segment], hits: Sequence[Ranked]) -> Doubles:
    """Return the cosine of `vector` and that of each of `hits`, at least 0."""
    numbers = np.frombuffer(vector, np.int8).astype(np.float64)
    return np.maximum(projections(vector, segments, hits) / max(float(np.sqrt(numbers @ numbers)), 1), 0)


def _mean_of_best(values: Doubles, counted: int) -> float:
    return float(np.sort(values)[-counted:].mean())


def _coverage(plan: Plan, first: _FirstHits, max_weight: float) -> Doubles:
    """Return the share of the query, or of `max_weight` of it, that each hit covers. Unknown words are not covered."""
    masks, weights, total = [], [], plan.unknown_weight
    for part in plan.parts:
        total += part.weight
        left = first.all
        for weight, terms in () if _is_doubtful(part) else _alternatives(plan, part):
            if found := left & first.having_all(terms):
                masks.append(found.to_bytes(len(first), "little"))
                weights.append(part.weight * weight * (GENERAL if part.is_general else 1.0))
                left ^= found
                if not left:
                    break
    missed = TRANSLATED if plan.is_translated else 1.0
    having = np.frombuffer(b"".join(masks), np.uint8).reshape(len(masks), len(first))
    covered: Doubles = np.array(weights) @ having
    return np.minimum(covered / np.clip(covered + missed * (total - covered), 1e-9, max_weight), 1.0)


def _is_doubtful(part: Part) -> bool:
    """Return whether a part has only corrections of a word that is no misspelling: it is in the table of vectors."""
    return part.is_corrected and word_vectors().knows(part.stems)


def _alternatives(plan: Plan, part: Part) -> Sequence[tuple[float, Collection[int]]]:
    """Return the alternatives of a part: the weight of each, the greatest first, and the terms that it needs."""
    found: list[tuple[float, Collection[int]]] = []
    for group in part.groups:
        if group.match_all:
            found.append((max(group.terms.values()), group.terms))
        else:
            found += [(min(weight, 1.0), (term,)) for term, weight in _heaviest(group.terms)]
    for concept in plan.concepts:
        if not part.stems.isdisjoint(concept.shares):
            found += [
                (TERM_DECAY**position, group.terms) for position, group in enumerate(concept.terms[:MAX_ALTERNATIVES])
            ]
    return sorted(found, key=_weight, reverse=True) if len(found) > 1 else found


_weight = itemgetter(0)


def _heaviest(terms: Mapping[int, float]) -> Collection[tuple[int, float]]:
    if len(terms) <= MAX_ALTERNATIVES:
        return terms.items()
    return nlargest(MAX_ALTERNATIVES, terms.items(), key=itemgetter(1))


class _FirstHits:
    """The first hits, by segment. A set of them is a whole number with a byte for each, 1 or 0."""

    def __init__(self, segments: Sequence[Segment], hits: Sequence[Ranked]) -> None:
        self._segments: list[tuple[Segment, Ints]] = []
        for number in sorted({number for _, number, _ in hits}):
            doc_ids = [doc_id for _, of, doc_id in hits if of == number]
            self._segments.append((segments[number], np.array(doc_ids, np.int32)))
        self._size = len(hits)
        self._known: dict[int, int] = {}
        self.all = int.from_bytes(b"\1" * len(hits), "little")

    def __len__(self) -> int:
        return self._size

    def having_all(self, terms: Iterable[int]) -> int:
        """Return the hits that have all of `terms`."""
        found = self.all
        for term in terms:
            found &= self.having(term)
        return found

    def having(self, term: int) -> int:
        """Return the hits that have `term`."""
        found = self._known.get(term)
        if found is None:
            having = [
                contains(segment.lists.documents_with(term), doc_ids).tobytes() for segment, doc_ids in self._segments
            ]
            found = self._known[term] = int.from_bytes(b"".join(having), "little")
        return found
