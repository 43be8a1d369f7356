"""Tables of the folder `data`, which are read once: files of texts, and tables by hashes of terms."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from threading import Lock
from typing import Any, Generic, TypeVar
from zlib import crc32

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

T = TypeVar("T")

Texts = NDArray[np.bytes_]
"""Texts in UTF-8, ordered by their bytes."""

_FOLDER = files("directory_server.search").joinpath("data")


@define(eq=False)
class Lazy(Generic[T]):
    """A function without arguments that calls `compute` at its first call, and returns that value at every call.

    Other threads wait for the first call. With functools.cache each of them would call `compute`.
    """

    _compute: Callable[[], T]
    _lock: Lock = field(factory=Lock, init=False)
    _computed: list[T] = field(factory=list, init=False)

    @property
    def is_computed(self) -> bool:
        """Return whether a call returns at once."""
        return bool(self._computed)

    def __call__(self) -> T:
        if not self._computed:
            with self._lock:
                if not self._computed:
                    self._computed.append(self._compute())
        return self._computed[0]


def read_table(name: str) -> str:
    """Return the text of a file of the folder."""
    return _FOLDER.joinpath(name).read_text("utf-8")


def read_arrays(name: str) -> Mapping[str, NDArray[Any]]:
    """Return the arrays of a file of the folder in the format of NumPy."""
    with _FOLDER.joinpath(name).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)


NOTHING = -1
"""The place in a free slot, and of a text that the table does not have."""


@define(eq=False)
class HashedTexts:
    """Texts in UTF-8, ordered by their bytes, and a hash table of their places (open addressing).

    Numpy's binary search of one text takes as long as thirty of these look-ups. The arrays do not change.
    """

    texts: Texts
    slots: NDArray[np.int32]
    width: int = field(init=False)
    _views: tuple[memoryview, memoryview] = field(init=False, repr=False)
    """The bytes of the texts, and the slots: their items take a third of the time of those of an array."""

    def __attrs_post_init__(self) -> None:
        self.width = self.texts.dtype.itemsize
        self._views = memoryview(np.ascontiguousarray(self.texts).view(np.uint8).data), memoryview(self.slots.data)

    @classmethod
    def of(cls, texts: Texts) -> HashedTexts:
        """Return the table of `texts`. Half of its slots or more are free."""
        mask = (1 << (2 * len(texts)).bit_length()) - 1
        slots = array("i", [NOTHING]) * (mask + 1)
        for place, text in enumerate(texts.tolist()):
            at = crc32(text) & mask
            while slots[at] != NOTHING:
                at = (at + 1) & mask
            slots[at] = place
        return cls(texts, np.frombuffer(slots, np.int32))

    def __len__(self) -> int:
        return len(self.texts)

    def find(self, raw: bytes) -> int:
        """Return the place of a text, or NOTHING."""
        return self.find_all((raw,))[0]

    def find_all(self, raws: Sequence[bytes]) -> list[int]:
        """Return the place of each of some texts, or NOTHING."""
        (texts, slots), width = self._views, self.width
        mask = len(slots) - 1
        places = []
        for raw in raws:
            at = crc32(raw)
            padded = raw.ljust(width, b"\0")
            while (place := slots[at & mask]) != NOTHING:
                if texts[place * width : (place + 1) * width] == padded:
                    break
                at += 1
            places.append(place)
        return places
