"""The words of a segment in order, for prefix search and spelling correction."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.ma  # Otherwise the first call of np.union1d imports it and delays a search by 0.1 seconds.
from attrs import frozen

from .vocabulary import Bytes, Ints, Longs, Sets, Vocabulary, letters_of

CORRECTABLE_LENGTHS = range(3, 25)
"""Lengths of the words that spelling correction proposes."""


@frozen(eq=False)
class Dictionary:
    """Words before stemming, sorted, with the term, document count, length and letters of each."""

    words: Sequence[str]
    terms: Longs
    counts: Ints
    lengths: Bytes
    letters: Sets

    @classmethod
    def of(cls, counts: Ints, vocabulary: Vocabulary) -> Dictionary:
        """Return the dictionary of the words with a count above 0; `counts` is by word number."""
        numbers, known = vocabulary.in_order(counts), vocabulary.words
        # The garbage collector stops tracking a tuple that has only strings.
        words = tuple([known[number] for number in numbers.tolist()])
        terms, lengths = vocabulary.terms_of(numbers), vocabulary.lengths_of(numbers)
        return cls(words, terms, counts[numbers], lengths, vocabulary.letters_of(numbers))

    def prefix_range(self, prefix: str) -> slice:
        """Return the positions of the words that begin with `prefix`, `prefix` itself excluded."""
        start = bisect_left(self.words, prefix)
        end = bisect_left(self.words, prefix + "\U0010ffff", start)
        return slice(start + (start < end and self.words[start] == prefix), end)

    def edit_candidates(self, word: str, edits: int, kind: str = "") -> Sequence[int]:
        """Return the positions of words that begin with `kind` and may be within `edits` of `word`; some are not.

        Words more than one edit away must begin with the same letter, as nearly all misspelt words do.
        """
        places = self._edit_candidates(kind, word, kind, 1)
        if edits > 1:
            places = np.union1d(places, self._edit_candidates(kind, word, kind + word[0], edits))
        found: list[int] = places.tolist()
        return found

    def _edit_candidates(self, kind: str, word: str, prefix: str, edits: int) -> Longs:
        # Names sort before all words.
        span = self.prefix_range(prefix) if prefix else slice(bisect_left(self.words, "\1"), len(self.words))
        shortest, longest = max(len(word) - edits, CORRECTABLE_LENGTHS.start) + len(kind), len(word) + edits + len(kind)
        # The difference is unsigned: shorter words wrap around and become too long.
        fitting = np.flatnonzero(self.lengths[span] - np.uint8(shortest) <= np.uint8(longest - shortest)) + span.start
        near = np.bitwise_count(self.letters[fitting] ^ letters_of(kind + word)) <= 2 * edits
        found: Longs = fitting[near]
        return found

    def similar_candidates(self, word: str, count: int) -> Sequence[int]:
        """Return the positions of the `count` words that share the greatest part of their letters with `word`."""
        bits = letters_of(word)
        shared = np.bitwise_count(self.letters & bits) / np.maximum(np.bitwise_count(self.letters | bits), 1)
        places = np.argpartition(-shared, count)[:count] if count < len(shared) else np.arange(len(shared))
        found: list[int] = places.tolist()
        return found
