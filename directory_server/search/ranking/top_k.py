"""The greatest of many scores."""

from __future__ import annotations

import numpy as np

from ..index.segment import Floats
from ..index.vocabulary import Longs

FEW, LEAST = np.float32(0.6), np.float32(1e-3)
"""The share of the best score above which few documents score; and the score under which all are looked at."""


def top_k(total: Floats, count: int) -> Longs:
    """Return the places of the `count` greatest scores, and of others that equal the least of them; none that are 0."""
    threshold = np.float32(total.max(initial=0)) * FEW
    above = total > threshold
    while threshold > 0 and np.count_nonzero(above) < count:
        # Far fewer documents score much than score at all.
        threshold = threshold * FEW if threshold > LEAST else np.float32(0)
        above = total > threshold
    places = np.flatnonzero(above)
    surplus = len(places) - count
    if surplus > 0:
        values = total[places]
        places = places[values >= np.partition(values, surplus)[surplus]]
    return places
