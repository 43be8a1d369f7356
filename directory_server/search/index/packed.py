"""Byte strings in two arrays, instead of an object for each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
from attrs import field, frozen

from .arrays import Bools, Bytes, Longs

MANY = 8
"""To read all items is faster than to read more than 1 / MANY of them one by one."""

CHUNK = 1_000_000
"""Bytes that are searched at a time, while no other thread runs."""


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
        lengths = np.fromiter(map(len, items), np.int64, len(items))
        return cls(np.frombuffer(b"".join(items), np.uint8), np.concatenate([[0], np.cumsum(lengths)]))

    @classmethod
    def merge(cls, parts: Sequence[tuple[Packed, Bools]]) -> Packed:
        """Return the items of all `parts` for which their booleans are true."""
        sizes = [np.diff(packed.offsets) for packed, _ in parts]
        lengths = np.concatenate([size[kept] for size, (_, kept) in zip(sizes, parts, strict=True)])
        data = [
            packed.data if kept.all() else packed.data[np.repeat(kept, size)]
            for size, (packed, kept) in zip(sizes, parts, strict=True)
        ]
        return cls(np.concatenate(data), np.concatenate([[0], np.cumsum(lengths)]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> bytes:
        return bytes(self._view[self._places[number] : self._places[number + 1]])

    def containing(self, numbers: Longs, key: bytes) -> Bools:
        """Return for each item of `numbers` whether it contains `key`."""
        if len(numbers) * MANY < len(self):
            return np.fromiter((key in self[number] for number in numbers.tolist()), bool, len(numbers))
        return self._all_containing(key)[numbers]

    def _all_containing(self, key: bytes) -> Bools:
        """Return for each item whether it contains `key`. It reads the items one after the other, without objects."""
        is_in, places, first = np.zeros(len(self), bool), self._places, 0
        while first < len(self):
            start = places[first]
            end = max(bisect_right(places, start + CHUNK) - 1, first + 1)
            data = bytes(self._view[start : places[end]])
            at = data.find(key)
            while at >= 0:
                number = min(bisect_right(places, start + at, first, end), end) - 1
                next_start = places[number + 1] - start
                if at + len(key) <= next_start:
                    is_in[number] = True
                    at = data.find(key, next_start)
                else:
                    at = data.find(key, at + 1)
            first = end
        return is_in
