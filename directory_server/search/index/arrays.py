"""Types of arrays, and the compiled module."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Shorts = NDArray[np.uint16]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Offsets = NDArray[np.uint32]
Sets = NDArray[np.uint64]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

kernel: ModuleType | None
"""The compiled module, or None if there was no C compiler when the package was installed."""

try:
    kernel = import_module("._kernel", __package__)
except ImportError:
    kernel = None
