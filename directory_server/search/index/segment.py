"""Many documents as arrays: which of them have a term, and with what impact."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.ma  # Otherwise np.union1d imports it when it is first called, which holds up a search for 0.1 seconds.
from attrs import frozen
from numpy.typing import NDArray

from .document import NAMED, SATURATION, SHORT_NAME, SPELT, WEIGHT, Document, Row
from .priors import priors
from .vocabulary import Bytes, Ints, Longs, Sets, Vocabulary, letters_of

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

MOST_TELLING = 64
"""Words of a document that tell what it is about; those that have less impact are but mentioned."""

RENUMBERED = 4_000
"""Words that are numbered anew at a time: to sort all of them would be one long call."""

MISSPELT = range(3, 25)
"""Letters of a word that may have been misspelt."""


@frozen(eq=False)
class Dictionary:
    """The words that documents hold as they are written, in order, and how many documents hold each."""

    words: Sequence[str]
    terms: Longs
    counts: Ints
    lengths: Bytes
    letters: Sets

    @classmethod
    def of(cls, counts: Ints, vocabulary: Vocabulary) -> Dictionary:
        """Return the dictionary of the words that `counts`, by their numbers, has any of."""
        numbers, known = vocabulary.in_order(counts), vocabulary.words
        # Of a tuple of strings the garbage collector sees that it can skip it.
        words = tuple([known[number] for number in numbers.tolist()])
        terms, lengths = vocabulary.terms_of(numbers), vocabulary.lengths_of(numbers)
        return cls(words, terms, counts[numbers], lengths, vocabulary.letters_of(numbers))

    def begun(self, prefix: str) -> slice:
        """Return the places of the words that `prefix` begins, without that of itself."""
        start = bisect_left(self.words, prefix)
        end = bisect_left(self.words, prefix + "\U0010ffff", start)
        return slice(start + (start < end and self.words[start] == prefix), end)

    def like(self, word: str, edits: int, kind: str = "") -> Sequence[int]:
        """Return the places of words that may be within `edits` of `word`, all beginning with `kind`; some are not.

        Those more than one edit away begin with the same letter, as nearly all misspelt words do.
        """
        places = self._like(kind, word, kind, 1)
        if edits > 1:
            places = np.union1d(places, self._like(kind, word, kind + word[0], edits))
        found: list[int] = places.tolist()
        return found

    def _like(self, kind: str, word: str, beginning: str, edits: int) -> Longs:
        # Names come before all words.
        span = self.begun(beginning) if beginning else slice(bisect_left(self.words, "\1"), len(self.words))
        shortest, longest = max(len(word) - edits, MISSPELT.start) + len(kind), len(word) + edits + len(kind)
        # What is shorter wraps round and becomes too long.
        fitting = np.flatnonzero(self.lengths[span] - np.uint8(shortest) <= np.uint8(longest - shortest)) + span.start
        near = np.bitwise_count(self.letters[fitting] ^ letters_of(kind + word)) <= 2 * edits
        found: Longs = fitting[near]
        return found

    def alike(self, word: str, count: int) -> Sequence[int]:
        """Return the places of the `count` words that have most of their letters in common with `word`."""
        bits = letters_of(word)
        shared = np.bitwise_count(self.letters & bits) / np.maximum(np.bitwise_count(self.letters | bits), 1)
        places = np.argpartition(-shared, count)[:count] if count < len(shared) else np.arange(len(shared))
        found: list[int] = places.tolist()
        return found


@frozen(eq=False)
class Segment:
    """Documents by number, and the postings: for each term, in order, those that have it and with what impact.

    `starts` says for each term where its postings begin, and twice at the end where the last ones end, as if there were
    a term without any; `named` says in how many documents a term stands in the name. `contained` and `weighing` have
    the MOST_TELLING words of each document, and `bounds` where those of each begin and end. `counts` has, by the
    numbers of words, how many documents hold each as it is written.
    """

    rows: Sequence[Row]
    counts: Ints
    dictionary: Dictionary
    priors: Floats
    starts: Longs
    named: Longs
    terms: Ints
    holders: Ints
    impacts: Floats
    contained: Ints
    weighing: Floats
    bounds: Longs

    @classmethod
    def of(cls, documents: Sequence[Document], vocabulary: Vocabulary) -> Segment:
        """Return a segment of `documents`, to be merged before it is searched: it has no dictionary yet.

        An impact is what a term adds to the score of a query that has it, before its rarity is known: BM25F, where
        all places are weighed together and then saturate (Robertson, Zaragoza and Taylor, 2004). It depends on
        nothing but the entry, so it stands when others change.
        """
        words = vocabulary.number_words(each.words.split() for each in documents)
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

        names = [[mark for mark in each.marks if mark.startswith((SHORT_NAME, SPELT))] for each in documents]
        beginnings = vocabulary.number_words(names)
        counts = np.bincount(np.concatenate([words, beginnings]), minlength=len(vocabulary.words)).astype(np.int32)
        numbers = vocabulary.number_terms(mark for each in documents for mark in each.marks)
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

    def renumbered(self, old: Vocabulary, new: Vocabulary) -> Segment:
        """Return this segment with the numbers of the empty vocabulary `new`, which gets no other words and terms."""
        lives = np.zeros(len(old.terms), bool)
        lives[self.terms] = True
        kept = np.flatnonzero((self.counts > 0) & lives[old.terms_of(np.arange(len(self.counts)))])
        for start in range(0, len(kept), RENUMBERED):
            new.number_words([[old.words[number] for number in kept[start : start + RENUMBERED].tolist()]])
        living = np.flatnonzero(lives)
        numbers = np.zeros(len(lives), np.int32)
        numbers[living] = new.number_terms(old.terms[number] for number in living.tolist())
        counts = self.counts[kept]
        dictionary = Dictionary.of(counts, new)
        return self._sorted(self.rows, counts, dictionary, numbers[self.terms], self.holders, self.impacts)

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
        terms = terms[order]
        starts = np.searchsorted(terms, np.arange(terms[-1] + 3 if len(terms) else 2, dtype=terms.dtype))
        impacts = impacts[order]
        # Of words, only what stands in the name has an impact above 1.
        named = np.bincount(terms[impacts > 1], minlength=len(starts) - 1)
        holders = holders[order]
        contained, weighing, bounds = _by_document(len(rows), terms, holders, impacts)
        columns = terms, holders, impacts, contained, weighing, bounds
        return cls(rows, counts, dictionary, priors(rows), starts, named, *columns)

    def __len__(self) -> int:
        return len(self.rows)

    def postings(self, term: int) -> tuple[Ints, Floats]:
        """Return the documents that have a term, and its impact in each."""
        term = min(term, len(self.starts) - 2)
        span = slice(self.starts[term], self.starts[term + 1])
        return self.holders[span], self.impacts[span]

    def all_postings(self, terms: Longs) -> tuple[Ints, Floats, Longs]:
        """Return the postings of `terms`, one after the other, and how many each has."""
        starts, counts = self._spans(terms)
        # A posting is as far behind the first one of its term in the segment as it is here.
        places = np.arange(int(counts.sum())) + np.repeat(starts - np.cumsum(counts) + counts, counts)
        return self.holders[places], self.impacts[places], counts

    def contents(self, document: int) -> tuple[Ints, Floats]:
        """Return the MOST_TELLING words that a document has, as terms, and the impact of each in it."""
        span = slice(self.bounds[document], self.bounds[document + 1])
        return self.contained[span], self.weighing[span]

    def frequencies(self, terms: Longs) -> Longs:
        """Return the number of documents that have each of `terms`."""
        return self._spans(terms)[1]

    def namings(self, terms: Longs) -> Longs:
        """Return the number of documents that have each of `terms` in their name."""
        counts: Longs = self.named[self._known(terms)]
        return counts

    def _spans(self, terms: Longs) -> tuple[Longs, Longs]:
        known = self._known(terms)
        starts = self.starts[known]
        return starts, self.starts[known + 1] - starts

    def _known(self, terms: Longs) -> Longs:
        # A term that is younger than the segment has no postings in it, as the one behind the last has none.
        return np.minimum(terms, len(self.starts) - 2)


def _by_document(documents: int, terms: Ints, holders: Ints, impacts: Floats) -> tuple[Ints, Floats, Longs]:
    """Return the terms of the MOST_TELLING words of each document and their impacts, and where those of each begin."""
    # What is no word, and only that, has an impact of 1.
    words = np.flatnonzero(impacts != 1)
    words = words[np.lexsort((-impacts[words], holders[words]))]
    bounds = np.searchsorted(holders[words], np.arange(documents + 1))
    words = words[np.arange(len(words)) - bounds[holders[words]] < MOST_TELLING]
    return terms[words], impacts[words], np.searchsorted(holders[words], np.arange(documents + 1))
