"""Numbers for words and terms, the same in all segments."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..text.analysis import stem

Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
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
    """The words that entries hold, as they are written, and their terms. It only grows; the index replaces it.

    What is known of each word is worked out when it is first met. No call of C is long, for all threads wait for one.
    """

    def __init__(self) -> None:
        self._words = _Numbers()
        self._terms = _Numbers()
        self._term_of = np.empty(0, np.int64)
        self._lengths = np.empty(0, np.uint8)
        self._letters = np.empty(0, np.uint64)
        self._order = np.empty(0, np.int32)

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

    def number_words(self, texts: Iterable[Sequence[str]]) -> Longs:
        """Return the numbers of the words of `texts`, giving one to each that has none, and one to its term."""
        numbers = [np.fromiter(map(self._words.__getitem__, words), np.int64, len(words)) for words in texts]
        self._learn(self.words[len(self._term_of) :])
        return np.concatenate([np.empty(0, np.int64), *numbers])

    def terms_of(self, words: Ints | Longs) -> Longs:
        """Return the numbers of the terms of words, by the words' numbers."""
        return self._term_of[words]

    def lengths_of(self, words: Ints) -> Bytes:
        """Return how long words are, at most 255, by their numbers."""
        return self._lengths[words]

    def letters_of(self, words: Ints) -> Sets:
        """Return the sets of the letters of words, by the words' numbers."""
        return self._letters[words]

    def in_order(self, counts: Ints) -> Ints:
        """Return the numbers of the words that `counts`, by their numbers, has any of, as they are ordered."""
        order = self._order[self._order < len(counts)]
        return order[counts[order] > 0]

    def _learn(self, new: Sequence[str]) -> None:
        """Note what there is to know of the words that were numbered last."""
        first, known = len(self._term_of), self.words.__getitem__
        ordered = sorted(range(first, first + len(new)), key=known)
        # To sort all of them would be one long call.
        places = [bisect_left(self._order, new[number - first], key=known) for number in ordered]
        self._order = np.insert(self._order, places, ordered)
        self._term_of = np.concatenate([self._term_of, self.number_terms(map(stem, new))])
        self._lengths = np.concatenate([self._lengths, np.fromiter((min(len(word), 255) for word in new), np.uint8)])
        self._letters = np.concatenate([self._letters, letters(new)])


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
