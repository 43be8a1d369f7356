"""Types of arrays, and the compiled modules."""

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


def _compiled(name: str, version: int = 1) -> ModuleType | None:
    """Return a compiled module, or None if there was no C compiler when the package was installed.

    In an editable installation it may be of another `version` than this code: then it is None, too.
    """
    try:
        module = import_module(f".{name}", __package__)
    except ImportError:
        return None
    return module if getattr(module, "VERSION", 1) == version else None


kernel = _compiled("_kernel", 2)
"""Merges of postings, and look-ups for searches."""

ranking = _compiled("_ranking", 2)
"""Scores of the documents of a plan."""

tables = _compiled("_tables")
"""Sorting and merging of strings, for changes."""
