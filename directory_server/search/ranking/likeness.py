"""Likeness: the best documents gain where their words mean what the query means.

Only the first RERANKED documents gain, and none loses, so that all others stay behind them: the order is the same on
every page of results. Sums of products have whole or binary fractions that floating-point numbers hold exactly, so the
scores do not depend on the order in which a processor adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ...domain.search import Position
from ..index.segment import Segment
from ..query.plan import Plan
from ..text.word_vectors import DIMENSIONS, word_vectors
from .scoring import PINNED_SCORE, Best, Ranked, ordered

RERANKED = 100
"""The documents that may gain: those of the greatest scores."""

SHARES = 0.3, 0.12
"""The gain of a likeness of 1, as a share of the best score: without and with conditions, beside which the words say
less of what the query means."""

ENCODED_SHARES = 0.4, 0.16
"""The same for a likeness that comes with the query, which knows more than the vectors of words."""

BESIDE_ENCODED = 0.5
"""The part of the gain by the vectors of words that remains beside such a likeness."""

DEVIATIONS, MAX_LIKENESS = 8, 1.2
"""The likeness of 1, in standard deviations of that of all entries and the query; and the greatest one that counts."""

EXACT = 1 << 16
"""Fractions of this many parts: their products and sums are exact."""

_Doubles = NDArray[np.float64]


def reranking(plan: Plan, segments: Sequence[Segment], best: Best) -> Best:
    """Return what returns documents as `best` does, but by descending score with likeness, and then by name."""
    if plan.vector is None and plan.likeness is None:
        return best

    @cache
    def gained() -> list[Ranked]:
        return ordered(with_likeness(plan, segments, best(RERANKED, None)), segments, None)

    def reranked(limit: int, after: Position | None) -> list[Ranked]:
        first = best(RERANKED, None)
        hits = gained()
        page = hits[:limit] if after is None else ordered(_from(hits, after), segments, after)[:limit]
        if len(page) >= limit or len(first) < RERANKED:
            return page
        score, number, doc_id = first[-1]
        end = Position(score, segments[number].rows.name(doc_id))
        # The next page may begin behind all that gained.
        return page + best(limit - len(page), end if page or after is None or not _is_later(after, end) else after)

    return reranked


def _from(hits: Sequence[Ranked], position: Position) -> list[Ranked]:
    return [hit for hit in hits if hit[0] <= position.score]


def _is_later(position: Position, other: Position) -> bool:
    return (-position.score, position.name) > (-other.score, other.name)


def with_likeness(plan: Plan, segments: Sequence[Segment], hits: Sequence[Ranked]) -> list[Ranked]:
    """Return `hits`, the best first, with the scores that they gain by likeness. Pinned ones gain nothing."""
    pins = [hit for hit in hits if hit[0] >= PINNED_SCORE]
    others = hits[len(pins) :]
    encoded = _encoded_likeness(plan, segments, others)
    if not others or (encoded is None and plan.vector is None):
        return [*hits]
    best = others[0][0]
    own = np.array([score for score, _, _ in others])
    scores = _exact(own / best)
    if encoded is not None:
        scores += _exact(ENCODED_SHARES[bool(plan.conditions)] * encoded)
    if plan.vector is not None:
        share = SHARES[bool(plan.conditions)] * (1 if encoded is None else BESIDE_ENCODED)
        scores += _exact(share * _likeness(plan.vector, segments, others))
    # Rounding may lower a score, and the next page begins below the last raw score.
    columns = np.maximum(best * scores, own).astype(np.float32).tolist()
    return [*pins, *((score, number, doc_id) for score, (_, number, doc_id) in zip(columns, others, strict=True))]


def projections(vector: bytes, segments: Sequence[Segment], hits: Sequence[Ranked]) -> _Doubles:
    """Return the product of `vector` and the vector of length 1 of each of `hits`; 0 for a hit without known words."""
    numbers, doc_ids = (
        np.array(column) for column in zip(*((number, doc_id) for _, number, doc_id in hits), strict=True)
    )
    vectors = np.empty((len(hits), DIMENSIONS), np.float32)
    for number in np.unique(numbers).tolist():
        places = np.flatnonzero(numbers == number)
        vectors[places] = segments[number].rows.vectors[doc_ids[places]]
    # Both sums are of whole numbers below 2^24, so exact.
    products = (vectors @ np.frombuffer(vector, np.int8).astype(np.float32)).astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors).astype(np.float64))
    found: _Doubles = products / np.maximum(lengths, 1)
    return found


def _encoded_likeness(plan: Plan, segments: Sequence[Segment], hits: Sequence[Ranked]) -> _Doubles | None:
    """Return the likeness that came with the query, of each of `hits`, from 0 to MAX_LIKENESS; None if unknown."""
    if plan.likeness is None or not hits:
        return None
    found = plan.likeness([int(segments[number].rows.keys[doc_id]) for _, number, doc_id in hits])
    return None if found is None else np.clip(np.array(found), 0, MAX_LIKENESS)


def _likeness(vector: bytes, segments: Sequence[Segment], hits: Sequence[Ranked]) -> _Doubles:
    """Return the likeness of the query and each of `hits`, from 0 to MAX_LIKENESS."""
    query = np.frombuffer(vector, np.int8)
    deviation = np.sqrt((np.square(query, dtype=np.float64) * word_vectors().spread).sum())
    found = projections(vector, segments, hits) / max(float(deviation), 1e-9) / DEVIATIONS
    return np.clip(found, 0, MAX_LIKENESS)


def _exact(numbers: _Doubles) -> _Doubles:
    return np.rint(numbers * EXACT) / EXACT
