"""Top-k selection from an array of scores."""

from __future__ import annotations

import numpy as np

from ..index.segment import Floats
from ..index.vocabulary import Longs

THRESHOLD_FACTOR, MIN_THRESHOLD = np.float32(0.6), np.float32(1e-3)
"""The threshold is the best score times this factor, repeatedly; below the minimum, all scores are searched."""


def top_k(total: Floats, count: int) -> Longs:
    """Return the positions of the `count` greatest scores above 0, and of all others equal to the least of them."""
    threshold = np.float32(total.max(initial=0)) * THRESHOLD_FACTOR
    above = total > threshold
    while threshold > 0 and np.count_nonzero(above) < count:
        # High scores are rare, so a threshold avoids a partition of all scores.
        threshold = threshold * THRESHOLD_FACTOR if threshold > MIN_THRESHOLD else np.float32(0)
        above = total > threshold
    places = np.flatnonzero(above)
    surplus = len(places) - count
    if surplus > 0:
        values = total[places]
        places = places[values >= np.partition(values, surplus)[surplus]]
    return places
