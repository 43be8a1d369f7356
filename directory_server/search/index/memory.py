"""Memory of the process: return of freed memory, and bounds of the pages of mapped files."""

from __future__ import annotations

import ctypes
import mmap
import os
from contextlib import suppress
from itertools import count
from weakref import WeakSet

RESIDENT = 800_000_000
"""Bytes of files, also of libraries, that may be in the memory of the process."""

PIECE = 4 << 20
"""Bytes of a mapped file whose pages are removed at a time, a multiple of the size of a page. It takes about 0.1 ms."""

PIECES = 8
"""Pieces whose pages are removed after a search. A search reads fewer."""

_maps: WeakSet[mmap.mmap] = WeakSet()
"""The mapped files that are in use."""

_turns = count()
"""The number of the next piece to remove, of all pieces of the mapped files, modulo their number."""


def map_file(file: int, size: int) -> mmap.mmap:
    """Map the first `size` bytes of the open file `file` for reading. Raises OSError."""
    mapped = mmap.mmap(file, size, access=mmap.ACCESS_READ)
    _maps.add(mapped)
    return mapped


def forget_pages() -> None:
    """Remove the pages of all mapped files from the memory of the process. They are mapped again when they are used."""
    for mapped in list(_maps):
        if hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)


def bound_pages(limit: int | None = None) -> None:
    """Remove pages of mapped files from the memory of the process if it has more than `limit` bytes of files in memory.

    Pieces are removed in turn, at most PIECES in a call. Those that searches read are mapped again. The kernel removes
    pages only if the machine is short of memory, and maps up to 16 pages for each one that is read, so that the whole
    file would be in memory after some thousand searches. `limit` is RESIDENT by default.
    """
    for _ in range(PIECES):
        if resident_files() <= (RESIDENT if limit is None else limit):
            return
        _forget_piece(next(_turns))


def resident_files() -> int:
    """Return the bytes of files, also of libraries, in the memory of the process; 0 where no /proc is (proc(5))."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[2]) * mmap.PAGESIZE
    except OSError:
        return 0


def write_all(file: int, data: memoryview) -> None:
    """Write `data` to the open file `file`. Raises OSError."""
    while data:
        data = data[os.write(file, data) :]


def _forget_piece(number: int) -> None:
    pieces = [(mapped, start) for mapped in list(_maps) for start in range(0, len(mapped), PIECE)]
    if pieces and hasattr(mmap, "MADV_DONTNEED"):
        mapped, start = pieces[number % len(pieces)]
        mapped.madvise(mmap.MADV_DONTNEED, start, min(PIECE, len(mapped) - start))


def release_memory() -> None:
    """Return the free memory of the C library to the system, where that is glibc (malloc_trim(3))."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
