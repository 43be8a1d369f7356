"""Sorted strings in two arrays, instead of an object for each."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from . import arrays
from .arrays import Bools, Bytes, Ints, Longs, Offsets, Sets
from .memory import Keep, in_memory

T = TypeVar("T", bound=np.generic)

BATCH = 50_000
"""Strings that are read, encoded or merged at a time: a long call of NumPy may block all threads."""

SAMPLE = 64
"""Strings of which one is kept in memory for look-ups without the engine: to read a string takes most of their time."""

MAX_BYTES = 2**32 - 1
"""Bytes of all strings of a table, which offsets of 32 bits can address."""

_LETTER = np.where(np.arange(256) < 128, np.uint64(1) << (np.arange(256) & 63).astype(np.uint64), np.uint64(0))
"""The bit of each ASCII character. Other characters have none."""

_BITS = {chr(code): 1 << (code & 63) for code in range(128)}
"""The same for a character of a string."""


@define(eq=False)
class StringTable:
    """Different strings in the order of their code points.

    `data` has their UTF-8 bytes, those of string `number` from offsets[number] to offsets[number + 1].
    """

    data: Bytes
    offsets: Offsets
    _view: memoryview = field(init=False, repr=False)
    _places: memoryview = field(init=False, repr=False)
    _samples: list[bytes] = field(init=False, repr=False, factory=list)
    """Each SAMPLEth string, once one was looked up without the engine."""

    def __attrs_post_init__(self) -> None:
        # Items of a memoryview take a third of the time of those of an array.
        object.__setattr__(self, "_view", memoryview(self.data.data))
        object.__setattr__(self, "_places", memoryview(self.offsets.data))

    @classmethod
    def of(cls, strings: Sequence[str]) -> StringTable:
        """Return the table of `strings`, which are different and sorted."""
        return cls.of_bytes([encoded(string) for string in strings])

    @classmethod
    def of_bytes(cls, strings: Sequence[bytes | memoryview]) -> StringTable:
        """Return the table of strings in UTF-8, which are different and sorted."""
        return cls(*_packed(strings))

    @classmethod
    def sort(cls, strings: Sequence[str]) -> tuple[StringTable, Longs]:
        """Return the table of `strings`, which are different, and the place of each of its strings in `strings`."""
        data, offsets = _packed_strings(strings)
        order = _order(data, offsets)
        return cls(*_taken(data, offsets, order)), order

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
        engine, key = arrays.engine, string.encode("utf-8", "surrogatepass")
        # Queries look up many words.
        number, is_found = self._bisect(key) if engine is None else engine.bisect(self.data, self.offsets, key)
        return number if is_found else None

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
        if arrays.engine is not None:
            found: tuple[int, bool] = arrays.engine.bisect(self.data, self.offsets, key)
            return found
        if not self._samples:
            self._samples.extend(map(self._key, range(0, len(self), SAMPLE)))
        end = bisect_left(self._samples, key) * SAMPLE
        number = bisect_left(range(len(self)), key, max(end - SAMPLE, 0), min(end, len(self)), key=self._key)
        return number, number < len(self) and self._key(number) == key

    def find_all(self, strings: Sequence[str]) -> Longs:
        """Return the number of each of `strings`, -1 for absent ones."""
        keys = [*map(encoded, strings)]
        if arrays.engine is not None:
            return np.array(arrays.engine.find_all(self.data, self.offsets, keys), np.int64)
        places = map(self._bisect, keys)
        return np.fromiter((number if is_found else -1 for number, is_found in places), np.int64, len(strings))

    def picked(self, numbers: Longs) -> StringTable:
        """Return the table of the strings with these ascending numbers."""
        return StringTable(*_taken(self.data, self.offsets, numbers))

    def merged(
        self, other: StringTable, kept: Bools | None = None, keep: Keep = in_memory
    ) -> tuple[StringTable, Ints, Ints]:
        """Return the table with the strings of both, which are different, and the new number of each of both.

        Of its own strings, only those are in the table where `kept` is true; the number of others is -1.
        """
        if kept is None:
            kept = np.ones(len(self), bool)
        size = int(np.diff(self.offsets).sum(where=kept)) + int(other.offsets[-1] - other.offsets[0])
        if size > MAX_BYTES:
            raise OverflowError(f"strings of more than {MAX_BYTES} bytes")
        count = int(np.count_nonzero(kept)) + len(other)
        data, offsets = keep.empty(size, np.uint8), keep.empty(count + 1, np.uint32)
        places, other_places = np.full(len(self), -1, np.int32), np.empty(len(other), np.int32)
        behind = np.fromiter(
            (self._bisect(other._key(number))[0] for number in range(len(other))), np.int64, len(other)
        )
        begin = other_begin = 0
        offsets[0] = 0
        # BATCH of its strings at a time, and the others before the next ones.
        for first in range(0, len(self) + 1, BATCH):
            last = min(first + BATCH, len(self))
            other_end = len(other) if last == len(self) else int(behind.searchsorted(last))
            own, others = first + np.flatnonzero(kept[first:last]), np.arange(other_begin, other_end)
            before = behind[other_begin:other_end]
            ranks = np.arange(len(own)) + before.searchsorted(own, side="right")
            other_ranks = np.arange(len(others)) + own.searchsorted(before)
            end = begin + len(own) + len(others)
            order = np.empty(end - begin, np.int64)
            order[ranks], order[other_ranks] = own - first, others + (last - first - other_begin)
            one, two = self._part(first, last), other._part(other_begin, other_end)
            both = np.concatenate([one[0], two[0]]), np.append(one[1], two[1][1:] + one[1][-1])
            ordered, ends = _taken(*both, order)
            data[offsets[begin] : offsets[begin] + len(ordered)] = ordered
            offsets[begin + 1 : end + 1] = offsets[begin] + ends[1:]
            places[own], other_places[others] = begin + ranks, begin + other_ranks
            begin, other_begin = end, other_end
            keep.forget()
        return StringTable(data, offsets), places, other_places

    def _part(self, first: int, last: int) -> tuple[Bytes, Offsets]:
        """Return the data and offsets of the strings from number `first` to `last`."""
        offsets = self.offsets[first : last + 1]
        return self.data[offsets[0] : offsets[-1]], offsets - offsets[0]

    def _key(self, number: int) -> bytes:
        return bytes(self._view[self._places[number] : self._places[number + 1]])

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


def _order(data: Bytes, offsets: Offsets) -> Longs:
    """Return the numbers of different strings in their order: by 8 bytes at a time, as long as some are equal.

    NumPy sorts numbers without the interpreter lock.
    """
    lengths = _lengths(offsets)
    # Of strings that are equal but for zero bytes at the end, the shorter one is the first.
    order = lengths.argsort(kind="stable")
    open_places = np.arange(len(order))
    groups, depth = np.zeros(len(order), np.int64), 0
    while len(open_places):
        numbers = order[open_places]
        keys = _keys(data, offsets, numbers, depth)
        by_key = np.lexsort((keys, groups))
        numbers, keys = numbers[by_key], keys[by_key]
        order[open_places] = numbers
        is_first = np.concatenate([[True], (keys[1:] != keys[:-1]) | (groups[1:] != groups[:-1])])
        groups = np.cumsum(is_first)
        depth += 8
        # The last string of a group is the longest one.
        is_last = np.append(is_first[1:], True)
        is_open = ~(is_first & is_last) & (lengths[numbers[is_last]] > depth)[groups - 1]
        open_places, groups = open_places[is_open], groups[is_open]
    return order


def _keys(data: Bytes, offsets: Offsets, numbers: Longs, depth: int) -> Sets:
    """Return the bytes from `depth` to `depth` + 8 of strings as numbers that compare like them."""
    starts = offsets[numbers].astype(np.int64) + depth
    ends = offsets[numbers + 1].astype(np.int64)
    keys = np.zeros(len(numbers), np.uint64)
    for places in (starts + place for place in range(8)):
        # Behind the end of a string are zeros.
        found = data.take(places, mode="clip") if len(data) else np.zeros(len(places), np.uint8)
        keys = keys << np.uint64(8) | np.where(places < ends, found, 0).astype(np.uint64)
    return keys


def _taken(data: Bytes, offsets: Offsets, numbers: Longs) -> tuple[Bytes, Offsets]:
    """Return the data and offsets of the strings with these numbers."""
    starts = offsets[numbers].astype(np.int64)
    lengths = offsets[numbers + 1] - starts
    taken = offsets_of(lengths)
    # The offset from the first byte of a string is the same in both.
    return data[np.arange(int(taken[-1])) + np.repeat(starts - taken[:-1], lengths)], taken


def _packed(strings: Sequence[bytes | memoryview]) -> tuple[Bytes, Offsets]:
    """Return the data and offsets of `strings`."""
    return np.frombuffer(b"".join(strings), np.uint8), offsets_of(
        np.fromiter(map(len, strings), np.int64, len(strings))
    )


def _packed_strings(strings: Sequence[str]) -> tuple[Bytes, Offsets]:
    """Return the data and offsets of `strings`. Only BATCH of them are encoded at a time."""
    lengths, pieces = np.empty(len(strings), np.int64), []
    for first in range(0, len(strings), BATCH):
        keys = [encoded(string) for string in strings[first : first + BATCH]]
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


def letters_of(string: str) -> np.uint64:
    """Return the set of the ASCII characters of one string, equal to that from `StringTable.letters`."""
    bits = 0
    for character in set(string):
        bits |= _BITS.get(character, 0)
    return np.uint64(bits)
