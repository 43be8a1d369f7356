"""Types of arrays, and the compiled engine."""

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


ENGINE_VERSION = 1
"""The number of the functions of the engine, which `setup.py` compiles into it. A changed signature needs another."""

engine = compiled("search._engine", ENGINE_VERSION)
"""Scores of the documents of a plan, and look-ups of strings; None without a C compiler."""
