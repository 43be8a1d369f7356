"""Return of freed memory to the system."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def release_memory() -> None:
    """Return the free memory of the C library to the system, where that is glibc (malloc_trim(3))."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
