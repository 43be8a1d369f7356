"""Pseudo-relevance feedback: the query is expanded by the terms that the first hits have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen

from ..index.bm25 import inverse_document_frequencies
from ..index.collection import Collection
from ..index.segment import Floats, Segment
from ..query.terms import Postings
from .top_k import top_k

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

FEEDBACK_SHARE = 0.3
"""The score of the document most similar to the first hits, as a share of the score of the first hit."""


@frozen
class Feedback:
    """The added terms with their weights. The most similar document gets `max_score` for them.

    A name match also gets `max_score`: its name is stronger evidence than similarity.
    """

    terms: Sequence[tuple[int, float]]
    max_score: float
    names: Sequence[Sequence[Postings]]
    label: str = "like the first hits"

    def postings(self, segments: Sequence[Segment]) -> list[Postings]:
        """Return for each of `segments` the documents with any of the terms, and their scores."""
        numbers = np.array([term for term, _ in self.terms], np.int64)
        term_weights = np.array([weight for _, weight in self.terms])
        totals = []
        for segment in segments:
            doc_ids, impacts, counts = segment.postings_of(numbers)
            weighted = impacts * np.repeat(term_weights, counts)
            totals.append(np.bincount(doc_ids, weighted, len(segment)).astype(np.float32))
        most = max((float(total.max(initial=0)) for total in totals), default=0.0)
        for postings in self.names:
            for total, (doc_ids, _) in zip(totals, postings, strict=True):
                total[doc_ids] = most
        share = np.float32(self.max_score / most)
        return [(doc_ids := np.flatnonzero(total > 0).astype(np.int32), total[doc_ids] * share) for total in totals]


def feedback(scores: Sequence[Floats], collection: Collection, names: Sequence[Sequence[Postings]]) -> Feedback | None:
    """Return the feedback of the first hits by `scores`, or None if they are too few or have no terms in common."""
    hits = _first_hits(scores)
    if len(hits) < FEEDBACK_HITS:
        return None
    hit_scores = np.array([score for score, _, _ in hits], np.float32)
    contents = [collection.segments[number].top_terms_of(doc_id) for _, number, doc_id in hits]
    terms = np.concatenate([each for each, _ in contents])
    impacts = np.concatenate([impacts for _, impacts in contents])
    impacts *= np.repeat(hit_scores / hit_scores.sum(), [len(each) for each, _ in contents])
    terms, which, counts = np.unique(terms, return_inverse=True, return_counts=True)
    weights = np.bincount(which, impacts)
    common = counts >= MIN_HITS
    terms, weights = terms[common], weights[common]
    frequencies = np.array(collection.document_frequencies(terms), float)
    idfs = inverse_document_frequencies(frequencies, collection.size)
    weights = weights * idfs * (frequencies >= MIN_FREQUENCY)
    chosen: list[tuple[int, float]] = []
    for place in np.argsort(-weights, kind="stable").tolist():
        if len(chosen) == FEEDBACK_TERMS or weights[place] <= 0:
            break
        term = int(terms[place])
        if _is_word(collection.vocabulary.terms[term]):
            chosen.append((term, float(weights[place])))
    return Feedback(chosen, FEEDBACK_SHARE * hits[0][0], names) if chosen else None


def _first_hits(scores: Sequence[Floats]) -> list[tuple[float, int, int]]:
    """Return the score, the segment number and the document number of each of the first FEEDBACK_HITS hits."""
    found = [
        (float(total[doc_id]), number, doc_id)
        for number, total in enumerate(scores)
        for doc_id in top_k(total, FEEDBACK_HITS).tolist()
    ]
    found.sort(key=lambda each: (-each[0], *each[1:]))
    return found[:FEEDBACK_HITS]


def _is_word(term: str) -> bool:
    return len(term) >= MIN_LETTERS and term.isascii() and term.isalpha()
