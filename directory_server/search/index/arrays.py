"""Types of arrays."""

from __future__ import annotations

import numpy as np

# numpy.isin imports it at its first call: in a search, where it takes 15 ms and needs a free file descriptor.
import numpy.ma
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Shorts = NDArray[np.uint16]
Vectors = NDArray[np.int8]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Sets = NDArray[np.uint64]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
