"""Memory of the process: return of freed memory, and mapped files in place of large arrays."""

from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TypeVar
from weakref import WeakSet

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

LEAST = 4_000_000
"""Bytes of an array from which it is moved to a file."""

T = TypeVar("T", bound=np.generic)

_maps: WeakSet[mmap.mmap] = WeakSet()
"""The mapped files that are in use."""


class Keep(Protocol):
    """A function that returns an equal array, which may be elsewhere."""

    def __call__(self, array: NDArray[T]) -> NDArray[T]:
        """Return `array`, or an equal one that is mapped from a file."""


def in_memory(array: NDArray[T]) -> NDArray[T]:
    """Return `array`."""
    return array


@frozen
class Spill:
    """Moves large arrays to files without names in `folder`, where the kernel can drop their pages from memory.

    An array stays in memory where the file cannot be written.
    """

    _folder: Path

    def __call__(self, array: NDArray[T]) -> NDArray[T]:
        """Return `array`, mapped from a file if it is large. The pages of all mapped files leave this process."""
        forget_pages()
        if array.nbytes < LEAST:
            return array
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self._folder, buffering=0) as file:
                write_all(file.fileno(), memoryview(np.ascontiguousarray(array).view(np.uint8).data))
                mapped = map_file(file.fileno(), array.nbytes)
        except OSError:
            return array
        return np.frombuffer(mapped, array.dtype)


def write_all(file: int, data: memoryview) -> None:
    """Write `data` to the open file `file`. Raises OSError."""
    while data:
        data = data[os.write(file, data) :]


def map_file(file: int, size: int) -> mmap.mmap:
    """Map the first `size` bytes of the open file `file` for reading. Raises OSError."""
    mapped = mmap.mmap(file, size, access=mmap.ACCESS_READ)
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


def release_memory() -> None:
    """Return the free memory of the C library to the system, where that is glibc (malloc_trim(3))."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
