"""The words of a segment in order, for prefix search and spelling correction."""

from __future__ import annotations

from string import ascii_lowercase, digits

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from . import arrays
from .arrays import Bytes, Ints, Longs, Sets
from .memory import Keep, in_memory
from .strings import StringTable, letters_of
from .vocabulary import Vocabulary

CORRECTABLE_LENGTHS = range(3, 25)
"""Lengths of the words that spelling correction proposes."""

MAX_COMPARED = 60
"""Characters of the longest word that the engine compares."""

FIRST_CHARACTERS = ascii_lowercase + digits
"""First characters of words that correction proposes for a word with another first character."""


@frozen(eq=False)
class Dictionary:
    """Words before stemming, sorted, with the term, document count, length and letters of each.

    `numbers` has the number of each word in the vocabulary; None if that is its position. `strings` may have strings
    that are not words: their count is 0.
    """

    strings: StringTable
    terms: Ints
    counts: Ints
    lengths: Bytes
    letters: Sets
    numbers: Ints | None = None

    @classmethod
    def of(cls, numbers: Longs, counts: Longs, vocabulary: Vocabulary) -> Dictionary:
        """Return the dictionary of the words with these ascending numbers, and their counts."""
        table, words = vocabulary.table_of(numbers)
        by_word = counts[np.searchsorted(numbers, words)].astype(np.int32)
        return cls(table, vocabulary.terms_of(words), by_word, table.lengths(), table.letters(), words.astype(np.int32))

    @classmethod
    def whole(
        cls, numbers: Ints, counts: NDArray[np.uint32], vocabulary: Vocabulary, keep: Keep = in_memory
    ) -> Dictionary:
        """Return the dictionary of these words of a `vocabulary` that has all its strings in its table."""
        table = vocabulary.table
        by_word = keep.empty(len(table), np.int32)
        by_word[:] = 0
        by_word[numbers] = counts
        return cls(table, vocabulary.table_terms(), by_word, table.lengths(keep), table.letters(keep))

    def word_counts(self) -> tuple[Longs, Ints]:
        """Return the numbers of the words with a count above 0, and their counts."""
        places = np.flatnonzero(self.counts)
        return (places if self.numbers is None else self.numbers[places].astype(np.int64)), self.counts[places]

    def prefix_range(self, prefix: str) -> slice:
        """Return the positions of the words that begin with `prefix`, `prefix` itself excluded."""
        return self.strings.prefix_range(prefix)

    def edit_matches(self, word: str, edits: int, kind: str = "") -> list[tuple[int, int]]:
        """Return the position and distance of each other word that begins with `kind` and is within `edits` of `word`.

        The distance is the optimal string alignment distance. `word` has at least 3 characters, all ASCII. Words more
        than one edit away must begin with the same character, as nearly all misspelt words do.
        """
        span = self.prefix_range(kind + word[0])
        shortest, longest = max(len(word) - edits, CORRECTABLE_LENGTHS.start) + len(kind), len(word) + edits + len(kind)
        others = [(place, 1) for place in self._with_another_first(word, kind)]
        if arrays.engine is None or len(word) > MAX_COMPARED:
            return self._edit_matches(word, edits, kind, span, shortest, longest) + others
        found: list[tuple[int, int]] = arrays.engine.near(
            data=self.strings.data,
            offsets=self.strings.offsets,
            lengths=self.lengths,
            letters=self.letters,
            counts=self.counts,
            first=span.start,
            last=span.stop,
            word=word.encode(),
            skipped=len(kind),
            wanted=int(letters_of(kind + word)),
            shortest=shortest,
            longest=longest,
            edits=edits,
        )
        return found + others

    def _edit_matches(
        self, word: str, edits: int, kind: str, span: slice, shortest: int, longest: int
    ) -> list[tuple[int, int]]:
        # The difference is unsigned: shorter words wrap around and become too long.
        fits = self.lengths[span] - np.uint8(shortest) <= np.uint8(min(longest, 255) - shortest)
        fitting = np.flatnonzero(fits & (self.counts[span] > 0)) + span.start
        near = np.bitwise_count(self.letters[fitting] ^ letters_of(kind + word)) <= 2 * edits
        places = fitting[near].tolist()
        others = self.strings.take(places)
        if not others:
            return []
        distances = cdist([kind + word], others, scorer=OSA.distance, score_cutoff=edits, dtype=np.uint8)[0].tolist()
        return [pair for pair in zip(places, distances, strict=True) if 0 < pair[1] <= edits]

    def _with_another_first(self, word: str, kind: str) -> list[int]:
        """Return the positions of words one edit away that begin with another character than `word`.

        That edit changes the first character, so the rest of the word is known.
        """
        least, first, rest = CORRECTABLE_LENGTHS.start + len(kind), word[0], word[1:]
        others = FIRST_CHARACTERS.replace(first, "")
        wanted = [kind + other + tail for tail in (rest, word) for other in others]
        if rest[0] != first:
            # The first character left out, or swapped with the next.
            wanted += [kind + rest, kind + rest[0] + first + rest[1:]]
        places = dict.fromkeys(self.strings.find_all(wanted).tolist())
        return [place for place in places if place >= 0 and self.counts[place] and self.lengths[place] >= least]
