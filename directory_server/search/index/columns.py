"""Files of named arrays (columns): written as a whole, then mapped read-only by any number of processes.

A file has a fixed head (MAGIC, and the length of the header), a header in JSON, the columns at multiples of ALIGNMENT,
and a digest of all bytes before it. The header has the `facts` that the writer gives, and the name, offset and number
of items of each column. Only numbers and bytes are in the file: the reader decides the type of a column by its name.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np
import orjson
from attrs import frozen
from numpy.typing import NDArray

from .memory import map_file, write_all

MAGIC = b"mcpindx2"
"""The format of the file and its version."""

ALIGNMENT = 64
"""Columns begin at multiples of it, more than the size of any item."""

MAX_HEADER = 1_000_000
"""Bytes of the header. A real one has about 4,000."""

CHUNK = 1 << 20
"""Bytes that are written at a time."""

BLOCK = 4 << 20
"""Bytes whose sums are computed at a time. After each call of numpy the thread waits for the interpreter lock."""

ROW = 512
"""Numbers of 64 bits in a row of a block."""

DIGEST = 8
"""Bytes of the digest at the end of a file."""

_HEAD = struct.Struct("<8sQ")

T = TypeVar("T", bound=np.generic)


class Unusable(ValueError):
    """A file that cannot be used; the message says why."""


@frozen
class ColumnFile:
    """A mapped file: its `facts`, and its columns, which stay mapped while one of them is used."""

    facts: Mapping[str, Any]
    _places: Mapping[str, tuple[int, int]]
    _map: mmap.mmap

    def has(self, name: str) -> bool:
        """Return whether there is a column `name`."""
        return name in self._places

    def column(self, name: str, kind: type[T], count: int | None = None) -> NDArray[T]:
        """Return a column as items of `kind`; raise Unusable if there are others than `count`."""
        place = self._places.get(name)
        if place is None:
            raise Unusable(f"it has no column {name}")
        offset, items = place
        size = np.dtype(kind).itemsize
        if offset % ALIGNMENT or items * size > len(self._map) - offset:
            raise Unusable(f"the column {name} is not within the file")
        if count is not None and items != count:
            raise Unusable(f"the column {name} has {items:,} items instead of {count:,}")
        return np.frombuffer(self._map, kind, items, offset)


def write_columns(file: int, facts: Mapping[str, Any], columns: Mapping[str, NDArray[Any]]) -> None:
    """Write `facts` and `columns` to the empty open file `file`, and sync it. Raises OSError."""
    for chunk in _chunks(facts, columns):
        write_all(file, chunk)
    write_all(file, memoryview(_digest(file, os.fstat(file).st_size)))
    os.fsync(file)


def size_of(columns: Mapping[str, NDArray[Any]]) -> int:
    """Return about how many bytes a file of `columns` has."""
    return sum(_aligned(column.nbytes) for column in columns.values()) + MAX_HEADER


def _chunks(facts: Mapping[str, Any], columns: Mapping[str, NDArray[Any]]) -> Iterator[memoryview]:
    """Yield the content of the file before the digest."""
    places, offset = {}, 0
    for name, column in columns.items():
        places[name] = offset, len(column)
        offset = _aligned(offset + column.nbytes)
    header = orjson.dumps({"facts": facts, "columns": places})
    head = _HEAD.pack(MAGIC, len(header)) + header
    for piece in (head, *columns.values()):
        data = memoryview(piece if isinstance(piece, bytes) else np.ascontiguousarray(piece).view(np.uint8).data)
        padding = memoryview(bytes(_aligned(len(data)) - len(data)))
        yield from (data[at : at + CHUNK] for at in range(0, len(data), CHUNK))
        yield padding


def map_columns(file: int) -> ColumnFile:
    """Map the open file `file` and check its digest. Raises Unusable and OSError."""
    size = os.fstat(file).st_size
    magic, length = _HEAD.unpack(_read(file, 0, _HEAD.size))
    if magic != MAGIC:
        raise Unusable("it is no index of this version")
    if length > MAX_HEADER:
        raise Unusable(f"its header has {length:,} bytes")
    end = size - DIGEST
    if _read(file, end, DIGEST) != _digest(file, end):
        raise Unusable("its checksum is wrong")
    facts, places = _header(_read(file, _HEAD.size, length), _aligned(_HEAD.size + length))
    return ColumnFile(facts, places, map_file(file, size))


def _digest(file: int, end: int) -> bytes:
    """Return the digest of sums of the bytes of a file before `end`. Raises Unusable and OSError.

    The sums are those of all rows and all columns of each block, modulo 2^64. Damage changes at least one of them,
    unless errors in four or more places cancel out exactly. They take a quarter of the time of a CRC.
    """
    digest = blake2b(end.to_bytes(8), digest_size=DIGEST)
    # Read instead of mapped: a file that is cut off meanwhile is an error here, and would end the process there.
    # The same buffer for all blocks: the kernel clears the pages of a new one.
    buffer = bytearray(BLOCK)
    rows = np.frombuffer(buffer, np.uint64).reshape(-1, ROW)
    for start in range(0, end, BLOCK):
        size = min(BLOCK, end - start)
        if size < BLOCK:
            buffer[size:] = bytes(BLOCK - size)
        if os.preadv(file, [memoryview(buffer)[:size]], start) < size:
            raise Unusable("it is cut off")
        digest.update(rows.sum(axis=0).data)
        digest.update(rows.sum(axis=1).data)
    return digest.digest()


def _header(header: bytes, first: int) -> tuple[Mapping[str, Any], dict[str, tuple[int, int]]]:
    """Return the facts in `header`, and the offset and number of items of each column. The columns begin at `first`."""
    try:
        parsed = orjson.loads(header)
        facts = parsed["facts"]
        places = {name: (first + offset, items) for name, (offset, items) in parsed["columns"].items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        raise Unusable("its header is invalid") from None
    numbers = [number for place in places.values() for number in place]
    if not isinstance(facts, dict) or not all(type(number) is int and number >= 0 for number in numbers):
        raise Unusable("its header is invalid")
    return facts, places


def _read(file: int, offset: int, length: int) -> bytes:
    data = os.pread(file, length, offset)
    if len(data) < length:
        raise Unusable("it is cut off")
    return data


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT
