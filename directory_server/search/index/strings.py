"""Sorted strings in two arrays, instead of an object for each."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import TypeVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from . import arrays
from .arrays import Bools, Bytes, Ints, Longs, Offsets, Sets
from .memory import Keep, in_memory

T = TypeVar("T", bound=np.generic)

SORTED_AT_ONCE = 4_000
"""Strings that are sorted in one call without the compiled module: a sort of all would block the other threads."""

MANY = 20
"""To go over all strings is faster than to look up more than 1 / MANY of them."""

BATCH = 50_000
"""Strings whose letters are computed in one NumPy call: a long call would block all threads."""

MAX_BYTES = 2**32 - 1
"""Bytes of all strings of a table, which offsets of 32 bits can address."""

_LETTER = np.where(np.arange(256) < 128, np.uint64(1) << (np.arange(256) & 63).astype(np.uint64), np.uint64(0))
"""The bit of each ASCII character. Other characters have none."""

_BITS = {chr(code): 1 << (code & 63) for code in range(128)}
"""The same for a character of a string."""


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
    def of_bytes(cls, strings: Sequence[bytes | memoryview]) -> StringTable:
        """Return the table of strings in UTF-8, which are different and sorted."""
        return cls(*packed(strings))

    @classmethod
    def sort(cls, strings: Sequence[str]) -> tuple[StringTable, Longs]:
        """Return the table of `strings`, which are different, and the place of each of its strings in `strings`."""
        if arrays.tables is not None:
            data, offsets, order = arrays.tables.sort(*_packed_strings(strings))
            table = cls(np.frombuffer(data, np.uint8), np.frombuffer(offsets, np.uint32))
            return table, np.frombuffer(order, np.int32).astype(np.int64)
        keys = [encoded(each) for each in strings]
        ordered = _sorted(list(zip(keys, range(len(keys)), strict=True)))
        return cls.of_bytes([key for key, _ in ordered]), np.array([place for _, place in ordered], np.int64)

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
        key = string.encode("utf-8", "surrogatepass")
        kernel = arrays.kernel
        number, is_found = self._bisect(key) if kernel is None else kernel.bisect(self.data, self.offsets, key)
        return number if is_found else None

    def find_each(self, before: str, characters: str, after: str) -> list[int]:
        """Return the numbers of the strings that are one of the ASCII `characters` between `before` and `after`."""
        numbers = (self.find(before + character + after) for character in characters)
        return [number for number in numbers if number is not None]

    def prefix_range(self, prefix: str) -> slice:
        """Return the numbers of the strings that begin with `prefix`, `prefix` itself excluded."""
        key = encoded(prefix)
        start, is_whole = self._bisect(key)
        start += is_whole
        if start == len(self) or self._view[(first := self._places[start]) : first + len(key)] != key:
            # Most names are no prefixes.
            return slice(start, start)
        # No byte of UTF-8 is 255, so this is after all that begins with the prefix.
        return slice(start, self._bisect(key + b"\xff")[0])

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

    def find_all(self, strings: Sequence[str]) -> Longs:
        """Return the number of each of `strings`, -1 for absent ones."""
        keys = [encoded(each) for each in strings]
        if arrays.tables is not None:
            data, offsets = packed(keys)
            return np.frombuffer(arrays.tables.find_all(self.data, self.offsets, data, offsets), np.int64)
        if len(keys) * MANY > len(self):
            numbers = {string: number for number, string in enumerate(self)}
            return np.fromiter((numbers.get(string, -1) for string in strings), np.int64, len(keys))
        places = map(self._bisect, keys)
        return np.fromiter((number if is_found else -1 for number, is_found in places), np.int64, len(keys))

    def subset(self, kept: Bools) -> StringTable:
        """Return the table of the strings where `kept` is true."""
        return StringTable(*selected(self.data, self.offsets, kept))

    def picked(self, numbers: Longs) -> StringTable:
        """Return the table of the strings with these ascending numbers."""
        if len(numbers) * MANY < len(self):
            view, places = self._view, self._places
            return StringTable.of_bytes([view[places[number] : places[number + 1]] for number in numbers.tolist()])
        kept = np.zeros(len(self), bool)
        kept[numbers] = True
        return self.subset(kept)

    def merged(
        self, other: StringTable, kept: Bools | None = None, keep: Keep = in_memory
    ) -> tuple[StringTable, Ints, Ints]:
        """Return the table with the strings of both, which are different, and the new number of each of both.

        Of its own strings, only those are in the table where `kept` is true; the number of others is -1.
        """
        if kept is None:
            kept = np.ones(len(self), bool)
        places, other_places = np.empty(len(self), np.int32), np.empty(len(other), np.int32)
        if arrays.tables is not None:
            size = int(np.diff(self.offsets).sum(where=kept)) + int(other.offsets[-1] - other.offsets[0])
            if size > MAX_BYTES:
                raise OverflowError(f"strings of more than {MAX_BYTES} bytes")
            count = int(np.count_nonzero(kept)) + len(other)
            data, offsets = keep.empty(size, np.uint8), keep.empty(count + 1, np.uint32)
            columns = self.data, self.offsets, kept, other.data, other.offsets
            arrays.tables.merge(*columns, data, offsets, places, other_places)
            return StringTable(data, offsets), places, other_places
        own = ((key, number) for number, key in enumerate(self._keys()) if kept[number])
        pairs = sorted(chain(own, ((key, -1 - number) for number, key in enumerate(other._keys()))))
        places[:] = -1
        for place, (_, number) in enumerate(pairs):
            if number >= 0:
                places[number] = place
            else:
                other_places[-1 - number] = place
        return StringTable.of_bytes([key for key, _ in pairs]), places, other_places

    def _keys(self) -> list[bytes]:
        return [bytes(self._view[start:end]) for start, end in pairwise(self._places)]

    def lengths(self, keep: Keep = in_memory) -> Bytes:
        """Return the characters of each string, at most 255."""
        found = keep.empty(len(self), np.uint8)
        # The bytes of a character after its first one are from 128 to 191.
        for span, counts in self._reduced(np.add, lambda data: ((data & 0xC0) != 0x80).astype(np.int64)):
            found[span] = np.minimum(counts, 255)
        keep.forget()
        return found

    def are_ascii(self) -> Bools:
        """Return for each string whether it has ASCII characters only."""
        found = np.empty(len(self), bool)
        for span, values in self._reduced(np.bitwise_or, lambda data: data):
            found[span] = values < 128
        return found

    def letters(self, keep: Keep = in_memory) -> Sets:
        """Return the set of the ASCII characters of each string as 64 bits. One edit changes at most 2 bits."""
        found = keep.empty(len(self), np.uint64)
        for span, values in self._reduced(np.bitwise_or, lambda data: _LETTER[data]):
            found[span] = values
        keep.forget()
        return found

    def _reduced(self, combine: np.ufunc, of: Callable[[Bytes], NDArray[T]]) -> Iterator[tuple[slice, NDArray[T]]]:
        """Yield `combine` over the values `of` the bytes of each string, 0 for an empty string; BATCH at a time."""
        for first in range(0, len(self), BATCH):
            offsets = self.offsets[first : first + BATCH + 1].astype(np.int64)
            values = of(self.data[offsets[0] : offsets[-1]])
            part = np.zeros(len(offsets) - 1, values.dtype)
            filled = np.flatnonzero(offsets[1:] > offsets[:-1])
            if len(filled):
                part[filled] = combine.reduceat(values, offsets[filled] - offsets[0])
            yield slice(first, first + len(part)), part


def _sorted(pairs: list[tuple[bytes, int]]) -> list[tuple[bytes, int]]:
    runs = [sorted(pairs[first : first + SORTED_AT_ONCE]) for first in range(0, len(pairs), SORTED_AT_ONCE)]
    # A sort of two sorted runs only merges them.
    while len(runs) > 1:
        runs = [sorted(chain(*runs[first : first + 2])) for first in range(0, len(runs), 2)]
    return runs[0] if runs else []


def packed(strings: Sequence[bytes | memoryview]) -> tuple[Bytes, Offsets]:
    """Return the data and offsets of `strings`."""
    return np.frombuffer(b"".join(strings), np.uint8), offsets_of(
        np.fromiter(map(len, strings), np.int64, len(strings))
    )


def _packed_strings(strings: Sequence[str]) -> tuple[Bytes, Offsets]:
    """Return the data and offsets of `strings`. Only BATCH of them are encoded at a time."""
    lengths, pieces = np.empty(len(strings), np.int64), []
    for first in range(0, len(strings), BATCH):
        keys = [encoded(each) for each in strings[first : first + BATCH]]
        lengths[first : first + len(keys)] = list(map(len, keys))
        pieces.append(b"".join(keys))
    return np.frombuffer(b"".join(pieces), np.uint8), offsets_of(lengths)


def encoded(string: str) -> bytes:
    """Return `string` in UTF-8. A query may have surrogates without a partner."""
    return string.encode("utf-8", "surrogatepass")


def offsets_of(lengths: Longs) -> Offsets:
    """Return the offsets of strings with these lengths in bytes. Raise OverflowError if they are too long together."""
    ends = np.cumsum(lengths)
    if len(ends) and ends[-1] > MAX_BYTES:
        raise OverflowError(f"strings of more than {MAX_BYTES} bytes")
    return np.concatenate([[0], ends]).astype(np.uint32)


def _lengths(offsets: Offsets) -> Longs:
    lengths: Longs = offsets[1:].astype(np.int64) - offsets[:-1]
    return lengths


def selected(data: Bytes, offsets: Offsets, kept: Bools) -> tuple[Bytes, Offsets]:
    """Return the data and offsets of the strings where `kept` is true."""
    lengths = _lengths(offsets)
    if kept.all():
        return data, offsets
    return data[np.repeat(kept, lengths)], offsets_of(lengths[kept])


def letters_of(string: str) -> np.uint64:
    """Return the set of the ASCII characters of one string, equal to that from `StringTable.letters`."""
    bits = 0
    for character in set(string):
        bits |= _BITS.get(character, 0)
    return np.uint64(bits)
