"""Types of arrays, and the compiled modules."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...compiled import compiled

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Shorts = NDArray[np.uint16]
Vectors = NDArray[np.int8]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Offsets = NDArray[np.uint32]
Sets = NDArray[np.uint64]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


kernel = compiled("search.index._kernel", 3)
"""Merges of postings, and look-ups for searches."""

ranking = compiled("search.index._ranking", 4)
"""Scores of the documents of a plan."""
