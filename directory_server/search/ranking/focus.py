"""Focus: raise the scores of the best documents by the share of their descriptions that the query covers.

A description of five words that the query covers is about the query. One that names the same words among twenty others
is about more, and an entry with the words in its tools only may be about something else.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..index.arrays import Floats, Ints
from ..index.bm25 import inverse_document_frequencies
from ..index.collection import Collection
from ..index.merging import Postings
from ..index.segment import Segment
from ..query.plan import Plan

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
