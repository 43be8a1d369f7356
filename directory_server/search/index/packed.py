"""Byte strings in two arrays, instead of an object for each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np
from attrs import field, frozen

from .arrays import Bools, Bytes, Ints, Longs
from .memory import Keep, in_memory

MANY = 8
"""To read all items is faster than to read more than 1 / MANY of them one by one."""

CHUNK = 1_000_000
"""Bytes that are searched at a time, while no other thread runs."""

PIECE = 16_000_000
"""Bytes that are copied at a time."""


@frozen(eq=False)
class Packed:
    """Byte strings by number: item `number` is `data` from offsets[number] to offsets[number + 1]."""

    data: Bytes
    offsets: Longs
    _view: memoryview = field(init=False, repr=False)
    _places: memoryview = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        # Items of a memoryview take a third of the time of those of an array.
        object.__setattr__(self, "_view", memoryview(self.data.data))
        object.__setattr__(self, "_places", memoryview(self.offsets.data))

    @classmethod
    def of(cls, items: Sequence[bytes]) -> Packed:
        """Return `items`, packed."""
        lengths = np.fromiter(map(len, items), np.int64, len(items))
        return cls(np.frombuffer(b"".join(items), np.uint8), np.concatenate([[0], np.cumsum(lengths)]))

    @classmethod
    def merge(cls, parts: Sequence[tuple[Packed, Bools]], keep: Keep = in_memory) -> Packed:
        """Return the items of all `parts` for which their booleans are true."""
        lengths = np.concatenate([np.diff(packed.offsets)[kept] for packed, kept in parts])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        data, place = keep.empty(int(offsets[-1]), np.uint8), 0
        for packed, kept in parts:
            for piece in packed._pieces(kept):
                data[place : place + len(piece)] = piece
                place += len(piece)
                keep.forget()
        return cls(data, keep(offsets))

    def _pieces(self, kept: Bools) -> Iterator[Bytes]:
        """Yield the data of the items where `kept` is true, about PIECE bytes at a time."""
        first = 0
        while first < len(self):
            last = max(bisect_right(self._places, self._places[first] + PIECE) - 1, first + 1)
            piece = self.data[self._places[first] : self._places[last]]
            of_piece = kept[first:last]
            yield piece if of_piece.all() else piece[np.repeat(of_piece, np.diff(self.offsets[first : last + 1]))]
            first = last

    def take(self, numbers: list[int]) -> list[bytes]:
        """Return the items with these numbers."""
        view, places = self._view, self._places
        return [bytes(view[places[number] : places[number + 1]]) for number in numbers]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def containing(self, numbers: Ints, key: bytes) -> Bools:
        """Return for each item of `numbers` whether it contains `key`."""
        if len(numbers) * MANY < len(self):
            return np.fromiter((key in bytes(self[number]) for number in numbers.tolist()), bool, len(numbers))
        return self._all_containing(key)[numbers]

    def _all_containing(self, key: bytes) -> Bools:
        """Return for each item whether it contains `key`. It reads the items one after the other, without objects."""
        found, places, first = np.zeros(len(self), bool), self._places, 0
        while first < len(self):
            start = places[first]
            end = max(bisect_right(places, start + CHUNK) - 1, first + 1)
            data = bytes(self._view[start : places[end]])
            at = data.find(key)
            while at >= 0:
                number = min(bisect_right(places, start + at, first, end), end) - 1
                next_start = places[number + 1] - start
                if at + len(key) <= next_start:
                    found[number] = True
                    at = data.find(key, next_start)
                else:
                    at = data.find(key, at + 1)
            first = end
        return found

    def __getitem__(self, number: int) -> memoryview:
        return self._view[self._places[number] : self._places[number + 1]]
