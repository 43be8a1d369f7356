"""Memory of the process: return of freed memory, and mapped files in place of large arrays."""

from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import IO, TypeVar
from weakref import WeakSet

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

LEAST = 4_000_000
"""Bytes of an array from which it is moved to a file."""

RESIDENT = 800_000_000
"""Bytes of files, also of libraries, that may be in the memory of the process."""

PIECE = 4 << 20
"""Bytes of a mapped file whose pages are removed at a time, a multiple of the size of a page. It takes about 0.1 ms."""

PIECES = 8
"""Pieces whose pages are removed after a search. A search reads fewer."""

T = TypeVar("T", bound=np.generic)

_maps: WeakSet[mmap.mmap] = WeakSet()
"""The mapped files that are in use."""

_turns = count()
"""The number of the next piece to remove, of all pieces of the mapped files, modulo their number."""


@frozen
class Keep:
    """Makes arrays: in memory, or with a `folder` large ones in files without names there.

    The kernel can drop the pages of these from memory. An array stays in memory where the file cannot be written.
    """

    _folder: Path | None = None

    def __call__(self, array: NDArray[T]) -> NDArray[T]:
        """Return `array`, mapped from a file if it is large. The pages of all mapped files leave this process."""
        self.forget()
        if self._folder is None or array.nbytes < LEAST:
            return array
        try:
            with _unnamed_file(self._folder) as file:
                write_all(file.fileno(), memoryview(np.ascontiguousarray(array).view(np.uint8).data))
                mapped = map_file(file.fileno(), array.nbytes)
        except OSError:
            return array
        return np.frombuffer(mapped, array.dtype)

    def empty(self, count: int, kind: type[T]) -> NDArray[T]:
        """Return an array of `count` items that the caller sets, mapped from a file if it is large."""
        size = count * np.dtype(kind).itemsize
        if self._folder is None or size < LEAST:
            return np.empty(count, kind)
        try:
            with _unnamed_file(self._folder) as file:
                # Without space on the disk, writing to the mapped pages would end the process.
                os.posix_fallocate(file.fileno(), 0, size)
                mapped = map_file(file.fileno(), size, mmap.ACCESS_WRITE)
        except OSError:
            return np.empty(count, kind)
        return np.frombuffer(mapped, kind)

    def forget(self) -> None:
        """Remove the pages of mapped files from the memory of the process, if arrays are in files."""
        if self._folder is not None:
            forget_pages()


in_memory = Keep()


def _unnamed_file(folder: Path) -> IO[bytes]:
    """Open a file without a name in `folder`. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return tempfile.TemporaryFile(dir=folder, buffering=0)


def write_all(file: int, data: memoryview) -> None:
    """Write `data` to the open file `file`. Raises OSError."""
    while data:
        data = data[os.write(file, data) :]


def map_file(file: int, size: int, access: int = mmap.ACCESS_READ) -> mmap.mmap:
    """Map the first `size` bytes of the open file `file`, for reading unless `access` is another. Raises OSError."""
    mapped = mmap.mmap(file, size, access=access)
    _maps.add(mapped)
    return mapped


def forget_pages() -> None:
    """Remove the pages of all mapped files from the memory of the process. They are mapped again when they are used."""
    for mapped in list(_maps):
        forget(mapped)


def forget(mapped: mmap.mmap) -> None:
    """Remove the pages of a mapped file from the memory of the process."""
    if hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def bound_pages(most: int | None = None) -> None:
    """Remove pages of mapped files from the memory of the process if it has more than `most` bytes of files in memory.

    Pieces are removed in turn, at most PIECES in a call. Those that searches read are mapped again. The kernel removes
    pages only if the machine is short of memory, and maps up to 16 pages for each one that is read, so that the whole
    file would be in memory after some thousand searches. `most` is RESIDENT by default.
    """
    most = RESIDENT if most is None else most
    for _ in range(PIECES):
        if resident_files() <= most:
            return
        _forget_piece(next(_turns))


def resident_files() -> int:
    """Return the bytes of files, also of libraries, in the memory of the process; 0 where no /proc is (proc(5))."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[2]) * mmap.PAGESIZE
    except OSError:
        return 0


def _forget_piece(number: int) -> None:
    pieces = [(mapped, start) for mapped in list(_maps) for start in range(0, len(mapped), PIECE)]
    if pieces and hasattr(mmap, "MADV_DONTNEED"):
        mapped, start = pieces[number % len(pieces)]
        mapped.madvise(mmap.MADV_DONTNEED, start, min(PIECE, len(mapped) - start))


def release_memory() -> None:
    """Return the free memory of the C library to the system, where that is glibc (malloc_trim(3))."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
