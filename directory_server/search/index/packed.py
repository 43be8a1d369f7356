"""Byte strings in two arrays, instead of an object for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import field, frozen

from . import arrays
from .arrays import Bools, Bytes, Longs
from .memory import Keep, in_memory


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
        lengths = [np.diff(packed.offsets) for packed, _ in parts]
        data = [
            packed.data if kept.all() else packed.data[np.repeat(kept, length)]
            for (packed, kept), length in zip(parts, lengths, strict=True)
        ]
        kept_lengths = np.concatenate([length[kept] for (_, kept), length in zip(parts, lengths, strict=True)])
        return cls(keep(np.concatenate(data)), np.concatenate([[0], np.cumsum(kept_lengths)]))

    def take(self, numbers: list[int]) -> list[bytes]:
        """Return the items with these numbers."""
        if arrays.kernel is not None:
            found: list[bytes] = arrays.kernel.items(self.data, self.offsets, numbers)
            return found
        return [bytes(self[number]) for number in numbers]

    def __getitem__(self, number: int) -> memoryview:
        return self._view[self._places[number] : self._places[number + 1]]
