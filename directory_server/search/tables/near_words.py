"""Strings of a table that are near a word: an edit or two from it.

Each string has a set of its letters, as bits. Those of two strings differ in at most two letters for each edit, so a
comparison of sets leaves a few hundred strings, whose distance is computed: insertions, deletions, substitutions and
swaps of neighbours ("optimal string alignment").
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from .files import Texts

LONGEST = 40
"""Bytes of the longest string that is compared."""

MAX_COMPARED = 20_000
"""Strings whose distance is computed. Real words have some hundred."""


@frozen(eq=False)
class NearWords:
    """ASCII strings in the order of their lengths: the strings without their first `start` bytes, their letters, and
    the end of each length.
    """

    strings: Texts
    places: NDArray[np.int64]
    letters: NDArray[np.uint32]
    ends: NDArray[np.int64]
    start: int

    @classmethod
    def of(cls, strings: Texts, is_used: NDArray[np.bool_], start: int = 0) -> NearWords:
        """Return those of `strings` that are used, compared without their first `start` bytes."""
        if not len(strings):
            empty = np.empty(0, np.int64)
            return cls(strings, empty, empty.astype(np.uint32), np.zeros(LONGEST + 1, np.int64), start)
        lengths = np.char.str_len(strings) - start
        table = np.ascontiguousarray(strings).view(np.uint8).reshape(len(strings), -1)[:, start:]
        chosen = np.flatnonzero(is_used & (lengths > 0) & (lengths <= LONGEST) & (table < 128).all(axis=1))
        chosen = chosen[np.argsort(lengths[chosen], kind="stable")]
        ends = np.cumsum(np.bincount(lengths[chosen], minlength=LONGEST + 1))
        table, letters = table[chosen], np.zeros(len(chosen), np.uint32)
        for bit in range(31):
            of_bit = table == ord("a") + bit if bit < 26 else (table > 0) & (table < ord("a")) & (table % 5 == bit - 26)
            letters |= of_bit.any(axis=1).astype(np.uint32) << np.uint32(bit)
        return cls(strings, chosen, letters, ends, start)

    def find(self, word: str, edits: int) -> Iterator[tuple[str, int]]:
        """Yield the other strings within `edits` of `word`, and their edits."""
        raw = word.encode()
        if not 0 < len(raw) <= LONGEST - edits:
            return
        first, last = self.ends[max(len(raw) - edits, 1) - 1], self.ends[len(raw) + edits]
        is_close = np.bitwise_count(self.letters[first:last] ^ _letters_of(raw)) <= 2 * edits
        places = self.places[first:last][is_close][:MAX_COMPARED]
        strings = [string[self.start :] for string in self.strings[places].tolist()]
        for string, distance, _ in extract(raw, strings, scorer=OSA.distance, score_cutoff=edits, limit=None):
            if distance:
                yield string.decode(), distance


def _letters_of(raw: bytes) -> np.uint32:
    letters = 0
    for byte in {*raw}:
        letters |= 1 << (byte - 97 if 97 <= byte <= 122 else 26 + byte % 5)
    return np.uint32(letters)
