"""The vocabulary: numbers of words and terms, shared by all segments."""

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
"""Letters of a word that are in its letter set."""


class _Numbers(dict[str, int]):
    """A dict that numbers strings in the order of their first lookup."""

    def __init__(self) -> None:
        super().__init__()
        self.strings: list[str] = []

    def __missing__(self, string: str) -> int:
        number = self[string] = len(self.strings)
        self.strings.append(string)
        return number


class Vocabulary:
    """All words before stemming, and their terms. It only grows, until the index replaces it.

    The data of a word is computed once, when it is added. No single NumPy call is long: it would block all threads.
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
        """Return the numbers of terms. New terms are added."""
        return np.fromiter(map(self._terms.__getitem__, terms), np.int64)

    def number_words(self, texts: Iterable[Sequence[str]]) -> Longs:
        """Return the numbers of the words of `texts`. New words and their terms are added."""
        numbers = [np.fromiter(map(self._words.__getitem__, words), np.int64, len(words)) for words in texts]
        self._add(self.words[len(self._term_of) :])
        return np.concatenate([np.empty(0, np.int64), *numbers])

    def terms_of(self, words: Ints | Longs) -> Longs:
        """Return the term numbers of `words`, given by number."""
        return self._term_of[words]

    def lengths_of(self, words: Ints) -> Bytes:
        """Return the lengths of `words`, given by number; at most 255."""
        return self._lengths[words]

    def letters_of(self, words: Ints) -> Sets:
        """Return the letter sets of `words`, given by number."""
        return self._letters[words]

    def in_order(self, counts: Ints) -> Ints:
        """Return the numbers of the words with a count above 0, in the order of the words; `counts` is by number."""
        order = self._order[self._order < len(counts)]
        return order[counts[order] > 0]

    def _add(self, new: Sequence[str]) -> None:
        """Compute the data of the words that were numbered last."""
        first, known = len(self._term_of), self.words.__getitem__
        ordered = sorted(range(first, first + len(new)), key=known)
        # Insertion instead of a sort of all words, which would be one long call.
        places = [bisect_left(self._order, new[number - first], key=known) for number in ordered]
        self._order = np.insert(self._order, places, ordered)
        self._term_of = np.concatenate([self._term_of, self.number_terms(map(stem, new))])
        self._lengths = np.concatenate([self._lengths, np.fromiter((min(len(word), 255) for word in new), np.uint8)])
        self._letters = np.concatenate([self._letters, letters(new)])


def letters(words: Sequence[str]) -> Sets:
    """Return the set of the first LETTERS letters of each word as 64 bits. One edit changes at most 2 bits."""
    codes = np.array(words, f"U{LETTERS}").view(np.uint32).reshape(len(words), LETTERS)
    bits = np.where(codes, np.uint64(1) << (codes & np.uint32(63)).astype(np.uint64), np.uint64(0))
    found: Sets = np.bitwise_or.reduce(bits, axis=1)
    return found


def letters_of(word: str) -> np.uint64:
    """Return the letter set of one word, equal to that from `letters`."""
    bits = 0
    for letter in word[:LETTERS]:
        bits |= 1 << (ord(letter) & 63)
    return np.uint64(bits)
