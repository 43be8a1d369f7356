"""Top-k selection from an array of scores."""

from __future__ import annotations

import numpy as np

from ..index.arrays import Floats, Longs

THRESHOLD_FACTOR, MIN_THRESHOLD = np.float32(0.6), np.float32(1e-3)
"""The threshold is the best score times this factor, repeatedly; below the minimum, all scores are searched."""

FEW = 4_000
"""Scores that are faster to partition at once than to compare with thresholds."""


def top_k(total: Floats, count: int) -> Longs:
    """Return the positions of the `count` greatest scores, and of all others equal to the least of them."""
    if len(total) <= count:
        return np.arange(len(total))
    if len(total) < FEW:
        return _at_least(total, np.arange(len(total)), count)
    threshold = np.float32(total.max(initial=0)) * THRESHOLD_FACTOR
    above = total > threshold
    while threshold > 0 and np.count_nonzero(above) < count:
        # High scores are rare, so a threshold avoids a partition of all scores.
        threshold = threshold * THRESHOLD_FACTOR if threshold > MIN_THRESHOLD else np.float32(0)
        above = total > threshold
    return _at_least(total, np.flatnonzero(above), count)


def _at_least(total: Floats, places: Longs, count: int) -> Longs:
    values = total[places]
    surplus = len(places) - count
    return places[values >= np.partition(values, surplus)[surplus]] if surplus > 0 else places
