"""Sorted strings in two arrays, instead of an object for each."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from . import arrays
from .arrays import Bools, Bytes, Longs, Offsets, Sets

T = TypeVar("T", bound=np.generic)

BATCH = 50_000
"""Strings whose letters are computed in one NumPy call: a long call would block all threads."""

MAX_BYTES = 2**32 - 1
"""Bytes of all strings of a table, which offsets of 32 bits can address."""

_LETTER = np.where(np.arange(256) < 128, np.uint64(1) << (np.arange(256) & 63).astype(np.uint64), np.uint64(0))
"""The bit of each ASCII character. Other characters have none."""


@frozen(eq=False)
class StringTable:
    """Different strings in the order of their code points.

    `data` has their UTF-8 bytes, those of string `number` from offsets[number] to offsets[number + 1].
    """

    data: Bytes
    offsets: Offsets
    _view: memoryview = field(init=False, repr=False)
    _places: memoryview = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        # Items of a memoryview take a third of the time of those of an array.
        object.__setattr__(self, "_view", memoryview(self.data.data))
        object.__setattr__(self, "_places", memoryview(self.offsets.data))

    @classmethod
    def of(cls, strings: Sequence[str]) -> StringTable:
        """Return the table of `strings`, which are different and sorted."""
        return cls.of_bytes([encoded(each) for each in strings])

    @classmethod
    def of_bytes(cls, strings: Sequence[bytes]) -> StringTable:
        """Return the table of strings in UTF-8, which are different and sorted."""
        data = np.frombuffer(b"".join(strings), np.uint8)
        return cls(data, offsets_of(np.fromiter(map(len, strings), np.int64, len(strings))))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> str:
        return str(self._view[self._places[number] : self._places[number + 1]], "utf-8", "surrogatepass")

    def take(self, numbers: Iterable[int]) -> list[str]:
        """Return the strings with these numbers."""
        view, places = self._view, self._places
        return [str(view[places[number] : places[number + 1]], "utf-8", "surrogatepass") for number in numbers]

    def __iter__(self) -> Iterator[str]:
        return iter(self.take(range(len(self))))

    def find(self, string: str) -> int | None:
        """Return the number of `string`, or None."""
        number, is_found = self._bisect(encoded(string))
        return number if is_found else None

    def find_each(self, before: str, characters: str, after: str) -> list[int]:
        """Return the numbers of the strings that are one of the ASCII `characters` between `before` and `after`."""
        parts = encoded(before), encoded(characters), encoded(after)
        if arrays.kernel is not None:
            found: list[int] = arrays.kernel.find_each(self.data, self.offsets, *parts)
            return found
        numbers = (self.find(before + character + after) for character in characters)
        return [number for number in numbers if number is not None]

    def prefix_range(self, prefix: str) -> slice:
        """Return the numbers of the strings that begin with `prefix`, `prefix` itself excluded."""
        key = encoded(prefix)
        start, is_whole = self._bisect(key)
        # No byte of UTF-8 is 255, so this is after all that begins with the prefix.
        return slice(start + is_whole, self._bisect(key + b"\xff")[0])

    def _bisect(self, key: bytes) -> tuple[int, bool]:
        """Return the number of the first string that is not before `key`, and whether it is `key`."""
        if arrays.kernel is not None:
            found: tuple[int, bool] = arrays.kernel.bisect(self.data, self.offsets, key)
            return found
        view, places = self._view, self._places

        def read(number: int) -> bytes:
            return bytes(view[places[number] : places[number + 1]])

        number = bisect_left(range(len(self)), key, key=read)
        return number, number < len(self) and read(number) == key

    def subset(self, kept: Bools) -> StringTable:
        """Return the table of the strings where `kept` is true."""
        return StringTable(*selected(self.data, self.offsets, kept))

    def merged(self, strings: Sequence[str]) -> tuple[StringTable, Sequence[int]]:
        """Return the table with sorted `strings` added, and the number of strings of this table before each of them."""
        keys = [encoded(each) for each in strings]
        places = [self._bisect(key)[0] for key in keys]
        pieces: list[bytes | memoryview] = []
        before = 0
        for key, place in zip(keys, places, strict=True):
            at = self._places[place]
            pieces += self._view[before:at], key
            before = at
        pieces.append(self._view[before:])
        lengths = np.insert(self.offsets[1:].astype(np.int64) - self.offsets[:-1], places, [len(key) for key in keys])
        return StringTable(np.frombuffer(b"".join(pieces), np.uint8), offsets_of(lengths)), places

    def lengths(self) -> Bytes:
        """Return the characters of each string, at most 255."""
        # The bytes of a character after its first one are from 128 to 191.
        counts = self._reduced(np.add, lambda data: ((data & 0xC0) != 0x80).astype(np.int64))
        found: Bytes = np.minimum(counts, 255).astype(np.uint8)
        return found

    def are_ascii(self) -> Bools:
        """Return for each string whether it has ASCII characters only."""
        return self._reduced(np.bitwise_or, lambda data: data) < 128

    def letters(self) -> Sets:
        """Return the set of the ASCII characters of each string as 64 bits. One edit changes at most 2 bits."""
        return self._reduced(np.bitwise_or, lambda data: _LETTER[data])

    def _reduced(self, combine: np.ufunc, of: Callable[[Bytes], NDArray[T]]) -> NDArray[T]:
        """Return `combine` over the values `of` the bytes of each string, 0 for an empty string."""
        found = []
        for first in range(0, len(self), BATCH):
            offsets = self.offsets[first : first + BATCH + 1].astype(np.int64)
            values = of(self.data[offsets[0] : offsets[-1]])
            part = np.zeros(len(offsets) - 1, values.dtype)
            filled = np.flatnonzero(offsets[1:] > offsets[:-1])
            if len(filled):
                part[filled] = combine.reduceat(values, offsets[filled] - offsets[0])
            found.append(part)
        return np.concatenate(found) if found else np.zeros(0, of(self.data[:0]).dtype)


def encoded(string: str) -> bytes:
    """Return `string` in UTF-8. A query may have surrogates without a partner."""
    return string.encode("utf-8", "surrogatepass")


def offsets_of(lengths: Longs) -> Offsets:
    """Return the offsets of strings with these lengths in bytes. Raise OverflowError if they are too long together."""
    ends = np.cumsum(lengths)
    if len(ends) and ends[-1] > MAX_BYTES:
        raise OverflowError(f"strings of more than {MAX_BYTES} bytes")
    return np.concatenate([[0], ends]).astype(np.uint32)


def selected(data: Bytes, offsets: Offsets, kept: Bools) -> tuple[Bytes, Offsets]:
    """Return the data and offsets of the strings where `kept` is true."""
    lengths = offsets[1:].astype(np.int64) - offsets[:-1]
    if kept.all():
        return data, offsets
    return data[np.repeat(kept, lengths)], offsets_of(lengths[kept])


def letters_of(string: str) -> np.uint64:
    """Return the set of the ASCII characters of one string, equal to that from `StringTable.letters`."""
    bits = 0
    for character in string:
        if character < "\x80":
            bits |= 1 << (ord(character) & 63)
    return np.uint64(bits)
