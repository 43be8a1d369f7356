"""Likeness: the best documents gain where their texts mean what the query means.

Only candidates gain, and none loses, so that all others stay behind them: the order is the same on every page.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..index.arrays import Doubles, Longs
from ..index.view import View
from ..query.rows import Plan
from ..tables.word_vectors import word_vectors

SHARES = 0.4, 0.14
"""The gain of a likeness of 1, as a share of the best score: without and with conditions, beside which the words say
less of what the query means."""

ENCODED_SHARES = 0.4, 0.16
"""The same for a likeness that comes with the query, which knows more than the vectors of words."""

BESIDE_ENCODED = 0.5
"""The part of the gain by the vectors of words that remains beside such a likeness."""

DEVIATIONS, MAX_LIKENESS = 8, 1.2
"""The likeness of 1, in standard deviations of that of all entries and the query; and the greatest one that counts."""


def likeness_of(plan: Plan, view: View, docs: Longs, scores: Doubles) -> tuple[Doubles, Doubles]:
    """Return the `scores` of `docs` with what they gain by likeness, and the cosine of each with the query.

    Both are empty if the likeness is unknown.
    """
    nothing = np.empty(0)
    if not len(docs) or ((plan.vector is None or len(plan.words) < 2) and plan.likeness is None):
        return nothing, nothing
    encoded = None if plan.likeness is None else plan.likeness(view.column("keys", docs).tolist())
    gains, cosines = np.zeros(len(docs)), nothing
    if encoded is not None:
        gains += ENCODED_SHARES[bool(plan.conditions)] * np.clip(np.array(encoded, float), 0, MAX_LIKENESS)
    if plan.vector is not None and len(plan.words) > 1:
        query = np.frombuffer(plan.vector, np.int8).astype(np.float32)
        products = np.maximum(projections(plan.vector, view, docs), 0)
        squares = query * query
        deviation, length = sqrt(squares @ word_vectors().spread), sqrt(squares.sum())
        share = SHARES[bool(plan.conditions)] * (1 if encoded is None else BESIDE_ENCODED)
        gains += share * np.minimum(products / max(deviation * DEVIATIONS, 1e-9), MAX_LIKENESS)
        cosines = products / max(length, 1)
    return scores + float(scores.max()) * gains, cosines


def projections(vector: bytes, view: View, docs: Longs) -> Doubles:
    """Return the product of `vector` and the vector of length 1 of each of `docs`; 0 for a document without one."""
    vectors = view.column("vectors", docs).astype(np.float32)
    # Both sums are of whole numbers below 2^24, so exact.
    products = vectors @ np.frombuffer(vector, np.int8).astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    found: Doubles = (products / np.maximum(lengths, 1)).astype(np.float64)
    return found
