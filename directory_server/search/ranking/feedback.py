"""Feedback and focus: weights by the first hits, and by the descriptions of all.

Pseudo-relevance feedback expands the query by the terms that the first hits have in common. Focus raises the scores of
the best documents by the share of their descriptions that the query covers. A description of five words that the query
covers is about the query. One that names the same words among twenty others is about more, and an entry with the words
in its tools only may be about something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from attrs import frozen

from ..index.arrays import Floats, Ints
from ..index.bm25 import inverse_document_frequencies
from ..index.collection import Collection
from ..index.merging import NO_POSTINGS, UNIT, Postings, contains, scaled
from ..index.segment import Segment
from ..query.plan import Plan
from .coverage import top_k

FEEDBACK_HITS = 12
"""Hits that are taken as relevant."""

FEEDBACK_TERMS = 10
"""Terms that are added to the query, those of the greatest weight."""

MIN_HITS = 2
"""Hits that must have a term."""

MIN_FREQUENCY = 3
"""Documents of the collection that must have a term."""

MIN_LETTERS = 3
"""Letters of the shortest term."""

FEEDBACK_SHARE = 0.4
"""The score of the document most similar to the first hits, as a share of the score of the first hit."""


MIN_MATCHES = 200
"""Documents that match a query, from which feedback adds no others: they would rank behind most of these."""

BEST = 1_000
"""The best documents, whose scores feedback changes where it adds no others. It changes the order of the first hits."""


@frozen
class Feedback:
    """The added terms with their weights. The most similar document gets `max_score` for them.

    The documents in `names`, sorted numbers for each segment, also get `max_score`: a name match is stronger evidence
    than similarity. `among` are the documents that may get a score, sorted; None for all.
    """

    terms: Sequence[tuple[int, float]]
    max_score: float
    names: Sequence[Ints]
    among: Sequence[Ints] | None
    label: str = "like the first hits"

    def postings(self, segments: Sequence[Segment]) -> list[Postings]:
        """Return for each of `segments` the documents with any of the terms, and their scores."""
        terms = np.array([term for term, _ in self.terms], np.int64)
        weights = np.array([weight for _, weight in self.terms])
        totals = [segment.lists.sum_of(terms, weights) for segment in segments]
        if self.among is not None:
            found = [contains(known, doc_ids) for known, (doc_ids, _) in zip(self.among, totals, strict=True)]
            totals = [
                (doc_ids[is_known], scores[is_known]) for is_known, (doc_ids, scores) in zip(found, totals, strict=True)
            ]
        most = max((float(scores.max(initial=0)) for _, scores in totals), default=0.0)
        for number, named in enumerate(self.names):
            if len(named):
                doc_ids, scores = totals[number]
                others = ~contains(named, doc_ids)
                full = np.full(len(named), most, np.float32)
                totals[number] = np.concatenate([doc_ids[others], named]), np.concatenate([scores[others], full])
        return scaled(totals, self.max_score)


def feedback(
    scored: Sequence[Postings], collection: Collection, names: Sequence[Sequence[Postings]]
) -> Feedback | None:
    """Return the feedback of the first hits, or None if they are too few or have no terms in common.

    `scored` has the scores of the documents of each segment, `names` the postings of each name match in each segment.
    """
    hits = _first_hits(scored)
    if len(hits) < FEEDBACK_HITS:
        return None
    hit_scores = np.array([score for score, _, _ in hits], np.float32)
    contents = [collection.segments[number].top_terms_of(doc_id) for _, number, doc_id in hits]
    terms = np.concatenate([of_hit for of_hit, _ in contents])
    impacts = np.concatenate([impacts for _, impacts in contents]) * np.float32(1 / UNIT)
    impacts *= np.repeat(hit_scores / hit_scores.sum(), [len(of_hit) for of_hit, _ in contents])
    order = terms.argsort(kind="stable")
    terms, impacts = terms[order], impacts[order]
    # A document has a term once, so as many equal ones in a row have it.
    first = np.flatnonzero(np.concatenate([[True], terms[1:] != terms[:-1]]))
    ends = np.concatenate([first[1:], [len(terms)]])
    common = ends - first >= MIN_HITS
    terms, weights = terms[first[common]], np.add.reduceat(impacts, first, dtype=np.float64)[common]
    frequencies = collection.frequencies(terms).astype(float)
    idfs = inverse_document_frequencies(frequencies, collection.size)
    weights = weights * idfs * (frequencies >= MIN_FREQUENCY)
    places = [place for place in np.argsort(-weights, kind="stable").tolist() if weights[place] > 0]
    chosen = first_words([(int(terms[place]), float(weights[place])) for place in places], collection)
    if not chosen:
        return None
    doc_ids = [
        np.unique(np.concatenate([NO_POSTINGS[0], *(name[number][0] for name in names)]))
        for number in range(len(collection.segments))
    ]
    return Feedback(chosen, FEEDBACK_SHARE * hits[0][0], doc_ids, _among(scored))


def _among(scored: Sequence[Postings]) -> list[Ints] | None:
    """Return the documents of each segment whose scores feedback may change; None for all documents there are."""
    scores = np.concatenate([scores for _, scores in scored])
    if len(scores) < MIN_MATCHES:
        return None
    least = np.partition(scores, -BEST)[-BEST] if len(scores) >= BEST else 0
    return [np.sort(doc_ids[scores >= least]) for doc_ids, scores in scored]


def first_words(weighted: Iterable[tuple[int, float]], collection: Collection) -> list[tuple[int, float]]:
    """Return the first FEEDBACK_TERMS of `weighted` terms that are words."""
    found = []
    for term, weight in weighted:
        if _is_word(collection.vocabulary.string(term)):
            found.append((term, weight))
            if len(found) == FEEDBACK_TERMS:
                break
    return found


def _first_hits(scored: Sequence[Postings]) -> list[tuple[float, int, int]]:
    """Return the score, the segment number and the document number of each of the first FEEDBACK_HITS hits."""
    found = [
        (float(scores[place]), number, int(doc_ids[place]))
        for number, (doc_ids, scores) in enumerate(scored)
        for place in top_k(scores, FEEDBACK_HITS).tolist()
    ]
    found.sort(key=lambda each: (-each[0], *each[1:]))
    return found[:FEEDBACK_HITS]


def _is_word(term: str) -> bool:
    return len(term) >= MIN_LETTERS and term.isascii() and term.isalpha()


FOCUS = 1.3
"""Share of its score that a document gains if the query covers its whole description."""

FOCUSED = 64
"""The best documents, whose scores are raised: up to twice as many if the last ones are equal."""


def focus(scored: Sequence[Postings], plan: Plan, collection: Collection) -> list[Postings]:
    """Return for each segment the best documents of `scored`, and what is added to the score of each."""
    every = np.concatenate([np.empty(0, np.float32), *(scores for _, scores in scored)])
    least = np.partition(every, -FOCUSED)[-FOCUSED] if len(every) > FOCUSED else np.float32(0)
    if np.count_nonzero(every >= least) > 2 * FOCUSED:
        least = np.nextafter(least, np.float32(np.inf))
    concepts = [group for concept in plan.concepts for group in concept.terms]
    parts = [group for part in plan.parts for group in part.groups]
    terms = np.array(sorted({term for group in (*concepts, *parts, *plan.others) for term in group.terms}), np.int32)
    found = []
    for segment, (doc_ids, scores) in zip(collection.segments, scored, strict=True):
        best = scores >= least
        shares = _shares(segment, doc_ids[best], terms, collection)
        found.append((doc_ids[best], scores[best] * np.float32(FOCUS) * np.sqrt(shares)))
    return found


def _shares(segment: Segment, doc_ids: Ints, terms: Ints, collection: Collection) -> Floats:
    """Return for each document the share of the words of its description that are in `terms`, weighted by rarity."""
    counts = segment.described[doc_ids].astype(np.int64)
    numbers = np.repeat(np.arange(len(doc_ids)), counts)
    places = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts - segment.top_starts[doc_ids], counts)
    described = segment.top_terms[places]
    frequencies = collection.frequencies(described.astype(np.int64)).astype(float)
    idfs = inverse_document_frequencies(frequencies, collection.size)
    covered = np.bincount(numbers, idfs * np.isin(described, terms), len(doc_ids))
    total = np.bincount(numbers, idfs, len(doc_ids))
    return np.divide(covered, total, out=np.zeros(len(doc_ids)), where=total > 0).astype(np.float32)
