"""Numbers for words and terms, the same in all segments, and what is known of each word once and for all."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ._analysis import SEPARATOR, is_unsegmented, runs, stem, tokens_of

BETWEEN = -1
"""The number that is no word's."""


class Vocabulary:
    """The words that entries hold, as they are written, and their terms. It only grows.

    `terms` are the terms by number, `foreign` tells which are of scripts without spaces, `native` which
    are plain words of English letters; `words` are the words by
    number, `term_of` has the number of each one's term, and `letters` the set of its letters as 64 bits.
    """

    def __init__(self) -> None:
        self.terms: list[str] = []
        self.foreign: list[bool] = []
        self.native: list[bool] = []
        self.words: list[str] = []
        self.term_of: list[int] = []
        self.letters: list[int] = []
        self._terms: dict[str, int] = {}
        self._words: dict[str, int] = {}
        # Nearly all runs of an entry are among the some ten thousand that others have too.
        self._run = lru_cache(maxsize=65_536)(self._numbers)

    def find(self, term: str) -> int | None:
        """Return the number of a term, or None."""
        return self._terms.get(term)

    def term(self, term: str) -> int:
        """Return the number of a term, giving it one if it has none."""
        number = self._terms.get(term)
        if number is None:
            self.terms.append(term)
            self.foreign.append(is_unsegmented(term))
            self.native.append(term.isascii() and term.isalpha() and len(term) > 2)
            number = self._terms[term] = len(self.terms) - 1
        return number

    def word(self, word: str) -> int:
        """Return the number of a word, giving it one if it has none."""
        number = self._words.get(word)
        if number is None:
            self.words.append(word)
            self.term_of.append(self.term(stem(word)))
            self.letters.append(letters(word))
            number = self._words[word] = len(self.words) - 1
        return number

    def numbers(self, texts: Iterable[str], *, humps: bool) -> NDArray[np.int64]:
        """Return the numbers of the words in `texts`, one after the other, and BETWEEN for each SEPARATOR in them."""
        run = self._run
        found: list[int] = []
        for text in texts:
            found += [number for each in runs(text) for number in run(each, humps)]
        return np.array(found, np.int64)

    def _numbers(self, run: str, humps: bool) -> tuple[int, ...]:
        return (BETWEEN,) if run == SEPARATOR else tuple(map(self.word, tokens_of(run, humps)))


def letters(word: str) -> int:
    """Return the set of letters in a word as 64 bits; words an edit apart differ in two of them at most."""
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) & 63)
    return bits
