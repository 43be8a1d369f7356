"""What speaks for each of many entries whatever is asked: its own prior, less where it copies another."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .document import Row

SAID = 20
"""Characters from which two descriptions are not alike by accident."""

COPY, COPIES = 0.05, 0.1
"""What the second and every further entry with one description loses, so that forks do not fill a page."""


def priors(rows: Sequence[Row]) -> NDArray[np.float32]:
    """Return the priors of entries; of those with one description, the one with the greatest keeps its own."""
    counts = Counter(row.hit.brief for row in rows)
    alike: dict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        if counts[row.hit.brief] > 1 and len(row.hit.brief) >= SAID:
            alike[row.hit.brief].append(number)
    # All have what copies lose, so that none is below 0.
    found = np.fromiter((COPIES + row.prior for row in rows), np.float32, len(rows))
    for numbers in alike.values():
        numbers.sort(key=lambda number: (-rows[number].prior, rows[number].name))
        found[numbers[1]] -= COPY
        found[numbers[2:]] -= COPIES
    return found
