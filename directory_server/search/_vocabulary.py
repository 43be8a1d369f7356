"""Numbers for words and terms, the same in all segments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ._analysis import stem

Longs = NDArray[np.int64]
Sets = NDArray[np.uint64]

LETTERS = 26
"""Letters of a word that count in its set of letters."""


class _Numbers(dict[str, int]):
    """Strings numbered in the order in which they were first asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.strings: list[str] = []

    def __missing__(self, string: str) -> int:
        number = self[string] = len(self.strings)
        self.strings.append(string)
        return number


class Vocabulary:
    """The words that entries hold, as they are written, and their terms. It only grows."""

    def __init__(self) -> None:
        self._words = _Numbers()
        self._terms = _Numbers()
        self._term_of = np.empty(0, np.int64)
        self._letters = np.empty(0, np.uint64)

    @property
    def words(self) -> Sequence[str]:
        """The words by number."""
        return self._words.strings

    @property
    def terms(self) -> Sequence[str]:
        """The terms by number."""
        return self._terms.strings

    def find(self, term: str) -> int | None:
        """Return the number of a term, or None."""
        return self._terms.get(term)

    def number_terms(self, terms: Iterable[str]) -> Longs:
        """Return the numbers of terms, giving one to each that has none."""
        return np.fromiter(map(self._terms.__getitem__, terms), np.int64)

    def number_words(self, words: Iterable[str]) -> Longs:
        """Return the numbers of words, giving one to each that has none, and one to its term."""
        numbers = np.fromiter(map(self._words.__getitem__, words), np.int64)
        new = self.words[len(self._term_of) :]
        self._term_of = np.concatenate([self._term_of, self.number_terms(map(stem, new))])
        self._letters = np.concatenate([self._letters, letters(new)])
        return numbers

    def terms_of(self, words: Longs) -> Longs:
        """Return the numbers of the terms of words, by the words' numbers."""
        return self._term_of[words]

    def letters_of(self, words: Longs) -> Sets:
        """Return the sets of the letters of words, by the words' numbers."""
        return self._letters[words]


def letters(words: Sequence[str]) -> Sets:
    """Return the set of the first LETTERS letters of each word as 64 bits; words an edit apart differ in two."""
    codes = np.array(words, f"U{LETTERS}").view(np.uint32).reshape(len(words), LETTERS)
    bits = np.where(codes, np.uint64(1) << (codes & np.uint32(63)).astype(np.uint64), np.uint64(0))
    found: Sets = np.bitwise_or.reduce(bits, axis=1)
    return found


def letters_of(word: str) -> np.uint64:
    """Return the set of the first LETTERS letters of one word, as `letters` does of many."""
    bits = 0
    for letter in word[:LETTERS]:
        bits |= 1 << (ord(letter) & 63)
    return np.uint64(bits)
