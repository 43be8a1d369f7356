"""Many documents as arrays: which of them have a term, and with what impact."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ._document import NAMED, SATURATION, SHORT_NAME, WEIGHT, Document, Row
from ._vocabulary import Longs, Sets, Vocabulary, letters

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

MISSPELT = range(3, 25)
"""Letters of a word that may have been misspelt."""


@frozen(eq=False)
class Dictionary:
    """The words that documents hold as they are written, in order, and how many documents hold each."""

    words: Sequence[str]
    counts: Ints
    lengths: Ints
    letters: Sets

    @classmethod
    def of(cls, counts: Ints, vocabulary: Vocabulary) -> Dictionary:
        """Return the dictionary of the words that `counts`, by their numbers, has any of."""
        known = vocabulary.words
        numbers = np.array(sorted(np.flatnonzero(counts).tolist(), key=known.__getitem__), np.int64)
        words = [known[number] for number in numbers.tolist()]
        lengths = np.fromiter(map(len, words), np.int32, len(words))
        return cls(words, counts[numbers], lengths, vocabulary.letters_of(numbers))

    def begun(self, prefix: str) -> tuple[Sequence[str], Ints]:
        """Return the words that begin with `prefix`, and how many documents hold each."""
        span = slice(bisect_left(self.words, prefix), bisect_left(self.words, prefix + "\U0010ffff"))
        return self.words[span], self.counts[span]

    def like(self, word: str, edits: int) -> list[tuple[str, int]]:
        """Return the words that may be within `edits` of `word`, and how many documents hold each; some are not."""
        near = (np.abs(self.lengths - len(word)) <= edits) & (self.lengths >= MISSPELT.start)
        near &= np.bitwise_count(self.letters ^ letters([word])) <= 2 * edits
        return [(self.words[i], int(self.counts[i])) for i in np.flatnonzero(near).tolist()]


@frozen(eq=False)
class Segment:
    """Documents by number, and the postings: for each term, in order, those that have it and with what impact.

    `starts` says for each term where its postings begin, and at the end where the last ones end; `counts` has, by the
    numbers of words, how many documents hold each as it is written.
    """

    rows: Sequence[Row]
    counts: Ints
    dictionary: Dictionary
    priors: Floats
    starts: Longs
    terms: Ints
    holders: Ints
    impacts: Floats

    @classmethod
    def of(cls, documents: Sequence[Document], vocabulary: Vocabulary) -> Segment:
        """Return a segment of `documents`, to be merged before it is searched: it has no dictionary yet.

        An impact is what a term adds to the score of a query that has it, before its rarity is known: BM25F, where
        all places are weighed together and then saturate (Robertson, Zaragoza and Taylor, 2004). It depends on
        nothing but the entry, so it stands when others change.
        """
        words = vocabulary.number_words(" ".join(each.words for each in documents).split())
        weights = np.frombuffer(b"".join(each.weights for each in documents), WEIGHT)
        sizes = np.array([len(each.weights) // WEIGHT.itemsize for each in documents], np.int64)
        holders = np.repeat(np.arange(len(documents)), sizes)
        places = np.arange(len(words)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        named = places < np.repeat(np.array([each.named for each in documents], np.int64), sizes)
        terms = vocabulary.terms_of(words)
        size = len(vocabulary.terms) + 1
        # Several words of a document may have one term.
        codes, which = np.unique(terms + holders * size, return_inverse=True)
        frequency = np.bincount(which, weights, len(codes))
        impacts = frequency / (frequency + SATURATION) + NAMED * (np.bincount(which, named, len(codes)) > 0)

        marks = [mark for each in documents for mark in each.marks]
        beginnings = vocabulary.number_words(mark for mark in marks if mark.startswith(SHORT_NAME))
        counts = np.bincount(np.concatenate([words, beginnings]), minlength=len(vocabulary.words)).astype(np.int32)
        numbers = vocabulary.number_terms(marks)
        marked = np.repeat(np.arange(len(documents)), [len(each.marks) for each in documents])
        return cls._sorted(
            [each.row for each in documents],
            counts,
            Dictionary.of(counts[:0], vocabulary),
            np.concatenate([codes % size, numbers]).astype(np.int32),
            np.concatenate([codes // size, marked]).astype(np.int32),
            np.concatenate([impacts, np.ones(len(numbers))]).astype(np.float32),
        )

    @classmethod
    def merged(cls, parts: Sequence[tuple[Segment, Bools]], vocabulary: Vocabulary) -> Segment:
        """Return a segment of the documents of `parts` that live: each comes with which of its documents do.

        `counts` keeps the words of those that do not: it only says which words are common.
        """
        rows: list[Row] = []
        terms, holders, impacts = [], [], []
        counts = np.zeros(len(vocabulary.words), np.int32)
        for segment, live in parts:
            renumbered = np.cumsum(live, dtype=np.int32) - 1 + len(rows)
            kept = live[segment.holders]
            terms.append(segment.terms[kept])
            holders.append(renumbered[segment.holders[kept]].astype(np.int32))
            impacts.append(segment.impacts[kept])
            rows += [segment.rows[number] for number in np.flatnonzero(live).tolist()]
            counts[: len(segment.counts)] += segment.counts
        dictionary = Dictionary.of(counts, vocabulary)
        columns = np.concatenate(terms), np.concatenate(holders), np.concatenate(impacts)
        return cls._sorted(rows, counts, dictionary, *columns)

    @classmethod
    def _sorted(
        cls,
        rows: Sequence[Row],
        counts: Ints,
        dictionary: Dictionary,
        terms: Ints,
        holders: Ints,
        impacts: Floats,
    ) -> Segment:
        order = np.argsort(terms, kind="stable")
        priors = np.fromiter((row.prior for row in rows), np.float32, len(rows))
        terms = terms[order]
        starts = np.searchsorted(terms, np.arange(terms[-1] + 2 if len(terms) else 0, dtype=terms.dtype))
        return cls(rows, counts, dictionary, priors, starts, terms, holders[order], impacts[order])

    def __len__(self) -> int:
        return len(self.rows)

    def postings(self, term: int) -> tuple[Ints, Floats]:
        """Return the documents that have a term, and its impact in each."""
        span = self._span(term)
        return self.holders[span], self.impacts[span]

    def frequency(self, term: int) -> int:
        """Return the number of documents that have a term."""
        span = self._span(term)
        return int(span.stop - span.start)

    def _span(self, term: int) -> slice:
        # A term that is younger than the segment has no postings in it.
        return slice(self.starts[term], self.starts[term + 1]) if term + 1 < len(self.starts) else slice(0, 0)
