"""Query-independent priors of documents, lowered for copies of a description."""

from __future__ import annotations

import numpy as np

from .arrays import Floats
from .rows import Rows

SECOND_COPY_PENALTY, FURTHER_COPY_PENALTY = 0.05, 0.1
"""Penalties of the second and of each further entry with the same description, so that forks do not fill a page."""


def priors(rows: Rows) -> Floats:
    """Return the priors of documents. Of those with one description, the one with the greatest prior has no penalty."""
    # The greatest penalty is added to all, so that none is below 0, except copies of servers that are down.
    found = (rows.priors + np.float32(FURTHER_COPY_PENALTY)).astype(np.float32)
    order = np.lexsort((-rows.priors, rows.briefs))
    briefs, best = rows.briefs[order], rows.priors[order]
    order = order[briefs != 0]
    briefs, best = briefs[briefs != 0], best[briefs != 0]
    starts = np.flatnonzero(np.concatenate([[True], briefs[1:] != briefs[:-1]])) if len(briefs) else np.empty(0, int)
    sizes = np.diff(starts, append=len(briefs))
    for start, size in zip(starts[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        numbers = order[start : start + size].tolist()
        if np.any(best[start : start + size - 1] == best[start + 1 : start + size]):
            numbers.sort(key=lambda number: (-rows.priors[number], rows.name(number)))
        found[numbers[1]] -= np.float32(SECOND_COPY_PENALTY)
        found[numbers[2:]] -= np.float32(FURTHER_COPY_PENALTY)
    return np.maximum(found, np.float32(0))
