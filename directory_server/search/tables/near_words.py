"""Strings of a table that are near a word: an edit or two from it.

Each string has a set of its letters, and of those that it has twice, as bits. An insertion or a deletion changes one
bit at most, a substitution two, so a comparison of sets leaves a few hundred strings, whose distance is computed:
insertions, deletions, substitutions and swaps of neighbours ("optimal string alignment").
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

TWICE, OTHERS = 26, 12
"""The bit of the first letter that a string has twice, and the bits of other characters."""

MAX_COMPARED = 20_000
"""Strings whose distance is computed. Real words have some hundred."""


@frozen(eq=False)
class NearWords:
    """ASCII strings in the order of their lengths: the strings without their first `start` bytes, their letters, and
    the end of each length.
    """

    strings: Texts
    places: NDArray[np.int64]
    letters: NDArray[np.uint64]
    ends: NDArray[np.int64]
    start: int

    @classmethod
    def of(cls, strings: Texts, is_used: NDArray[np.bool_], start: int = 0) -> NearWords:
        """Return those of `strings` that are used, compared without their first `start` bytes."""
        if not len(strings):
            empty = np.empty(0, np.int64)
            return cls(strings, empty, empty.astype(np.uint64), np.zeros(LONGEST + 1, np.int64), start)
        lengths = np.char.str_len(strings) - start
        table = np.ascontiguousarray(strings).view(np.uint8).reshape(len(strings), -1)[:, start:]
        chosen = np.flatnonzero(is_used & (lengths > 0) & (lengths <= LONGEST) & (table < 128).all(axis=1))
        chosen = chosen[np.argsort(lengths[chosen], kind="stable")]
        ends = np.cumsum(np.bincount(lengths[chosen], minlength=LONGEST + 1))
        table, letters = table[chosen], np.zeros(len(chosen), np.uint64)
        for letter in range(26):
            count = np.count_nonzero(table == ord("a") + letter, axis=1)
            letters |= (count > 0).astype(np.uint64) << np.uint64(letter)
            letters |= (count > 1).astype(np.uint64) << np.uint64(TWICE + letter)
        for group in range(OTHERS):
            of_group = (table > 0) & ((table < ord("a")) | (table > ord("z"))) & (table % OTHERS == group)
            letters |= of_group.any(axis=1).astype(np.uint64) << np.uint64(2 * TWICE + group)
        return cls(strings, chosen, letters, ends, start)

    def find(self, word: str, edits: int) -> Iterator[tuple[str, int]]:
        """Yield the other strings within `edits` of `word`, and their edits."""
        raw = word.encode()
        if not 0 < len(raw) <= LONGEST - edits:
            return
        letters, ends = _letters_of(raw), self.ends
        close = []
        for length in range(max(len(raw) - edits, 1), len(raw) + edits + 1):
            of_length = slice(ends[length - 1], ends[length])
            differing = np.bitwise_count(self.letters[of_length] ^ letters)
            close.append(self.places[of_length][differing <= 2 * edits - abs(length - len(raw))])
        places = np.concatenate(close)[:MAX_COMPARED]
        strings = [string[self.start :] for string in self.strings[places].tolist()]
        for string, distance, _ in extract(raw, strings, scorer=OSA.distance, score_cutoff=edits, limit=None):
            if distance:
                yield string.decode(), distance


def _letters_of(raw: bytes) -> np.uint64:
    letters = 0
    for byte in {*raw}:
        if ord("a") <= byte <= ord("z"):
            letters |= 1 << byte - ord("a") | (raw.count(byte) > 1) << TWICE + byte - ord("a")
        else:
            letters |= 1 << 2 * TWICE + byte % OTHERS
    return np.uint64(letters)
