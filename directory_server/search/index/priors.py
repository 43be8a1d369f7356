"""Query-independent priors of documents, lowered for copies of a description."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .document import Row

MIN_DESCRIPTION = 20
"""Characters of the shortest description that counts as a copy of an equal one."""

SECOND_COPY_PENALTY, FURTHER_COPY_PENALTY = 0.05, 0.1
"""Penalties of the second and of each further entry with the same description, so that forks do not fill a page."""


def priors(rows: Sequence[Row]) -> NDArray[np.float32]:
    """Return the priors of documents. Of those with one description, the one with the greatest prior has no penalty."""
    counts = Counter(row.hit.brief for row in rows)
    alike: dict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        if counts[row.hit.brief] > 1 and len(row.hit.brief) >= MIN_DESCRIPTION:
            alike[row.hit.brief].append(number)
    # The greatest penalty is added to all, so that none is below 0.
    found = np.fromiter((FURTHER_COPY_PENALTY + row.prior for row in rows), np.float32, len(rows))
    for numbers in alike.values():
        numbers.sort(key=lambda number: (-rows[number].prior, rows[number].name))
        found[numbers[1]] -= SECOND_COPY_PENALTY
        found[numbers[2:]] -= FURTHER_COPY_PENALTY
    return found
