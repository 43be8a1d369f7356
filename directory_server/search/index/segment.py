"""Segments: the postings of many documents, as arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from .bm25 import impacts as bm25_impacts
from .dictionary import Dictionary
from .document import EXACT_NAME, SHORT_NAME, WEIGHT, Document, Row
from .merging import UNIT, PostingLists, Shorts
from .priors import priors
from .vocabulary import Ints, Longs, Vocabulary

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

_NAMES = (SHORT_NAME, EXACT_NAME)

TOP_TERMS = 64
"""Words of a document, those of the greatest impact, that feedback looks at."""

RENUMBER_BATCH = 4_000
"""Words that are renumbered in one call: a call that sorts all of them would block the other threads."""


@frozen(eq=False)
class Segment:
    """Documents, and an inverted index of them.

    `rows` and `priors` are by document number. `named[term]` is the number of documents with the term in the name.
    `top_terms` and `top_impacts` have the TOP_TERMS words of each document; those of a document begin at
    `top_starts[document]`. `counts[word]` is the number of documents with a word before stemming.
    """

    rows: Sequence[Row]
    counts: Ints
    dictionary: Dictionary
    priors: Floats
    lists: PostingLists
    named: Ints
    top_terms: Ints
    top_impacts: Shorts
    top_starts: Longs

    @classmethod
    def of(cls, documents: Sequence[Document], vocabulary: Vocabulary) -> Segment:
        """Return a segment of `documents`. Its dictionary is empty until it is merged: merge it before a search."""
        words = vocabulary.number_words(each.words.split() for each in documents)
        weights = np.frombuffer(b"".join(each.weights for each in documents), WEIGHT)
        sizes = np.array([len(each.weights) // WEIGHT.itemsize for each in documents], np.int64)
        doc_ids = np.repeat(np.arange(len(documents)), sizes)
        positions = np.arange(len(words)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        named = positions < np.repeat(np.array([each.named for each in documents], np.int64), sizes)
        terms = vocabulary.terms_of(words)
        size = len(vocabulary.terms) + 1
        # Several words of a document may have one term.
        codes, which = np.unique(terms + doc_ids * size, return_inverse=True)
        frequency = np.bincount(which, weights, len(codes))
        impacts = bm25_impacts(frequency, np.bincount(which, named, len(codes)) > 0)

        names = [
            [term for term in each.special_terms if term.startswith((SHORT_NAME, EXACT_NAME))] for each in documents
        ]
        name_words = vocabulary.number_words(names)
        counts = np.bincount(np.concatenate([words, name_words]), minlength=len(vocabulary.words)).astype(np.int32)
        numbers = vocabulary.number_terms(term for each in documents for term in each.special_terms)
        special_doc_ids = np.repeat(np.arange(len(documents)), [len(each.special_terms) for each in documents])
        return cls._from_postings(
            [each.row for each in documents],
            counts,
            Dictionary.of(counts[:0], vocabulary),
            np.concatenate([codes % size, numbers]).astype(np.int32),
            np.concatenate([codes // size, special_doc_ids]).astype(np.int32),
            np.concatenate([_stored(impacts), np.full(len(numbers), UNIT, np.uint16)]),
        )

    @classmethod
    def merge(cls, parts: Sequence[tuple[Segment, Bools]], vocabulary: Vocabulary) -> Segment:
        """Return a segment of the live documents of `parts`, each a segment with its live documents.

        `counts` still includes deleted documents: it is only used to see which words are common.
        """
        rows: list[Row] = []
        terms, doc_ids, impacts = [], [], []
        counts = np.zeros(len(vocabulary.words), np.int32)
        for segment, live in parts:
            new_ids = np.cumsum(live, dtype=np.int32) - 1 + len(rows)
            kept = live[segment.lists.doc_ids]
            terms.append(segment.terms[kept])
            doc_ids.append(new_ids[segment.lists.doc_ids[kept]].astype(np.int32))
            impacts.append(segment.lists.impacts[kept])
            rows += [segment.rows[number] for number in np.flatnonzero(live).tolist()]
            counts[: len(segment.counts)] += segment.counts
        dictionary = Dictionary.of(counts, vocabulary)
        columns = np.concatenate(terms), np.concatenate(doc_ids), np.concatenate(impacts)
        return cls._from_postings(rows, counts, dictionary, *columns)

    def renumber(self, old: Vocabulary, new: Vocabulary) -> Segment:
        """Return this segment with the numbers of `new`, an empty vocabulary that gets the words and terms in use."""
        used = np.zeros(len(old.terms), bool)
        used[self.terms] = True
        kept = np.flatnonzero((self.counts > 0) & used[old.terms_of(np.arange(len(self.counts)))])
        for start in range(0, len(kept), RENUMBER_BATCH):
            new.number_words([[old.words[number] for number in kept[start : start + RENUMBER_BATCH].tolist()]])
        used_terms = np.flatnonzero(used)
        numbers = np.zeros(len(used), np.int32)
        numbers[used_terms] = new.number_terms(old.terms[number] for number in used_terms.tolist())
        counts = self.counts[kept]
        dictionary = Dictionary.of(counts, new)
        columns = numbers[self.terms], self.lists.doc_ids, self.lists.impacts
        return self._from_postings(self.rows, counts, dictionary, *columns)

    @classmethod
    def _from_postings(
        cls,
        rows: Sequence[Row],
        counts: Ints,
        dictionary: Dictionary,
        terms: Ints,
        doc_ids: Ints,
        impacts: Shorts,
    ) -> Segment:
        order = np.argsort(terms, kind="stable")
        terms = terms[order]
        starts = np.searchsorted(terms, np.arange(terms[-1] + 3 if len(terms) else 2, dtype=terms.dtype))
        impacts = impacts[order]
        # Only words in the name have an impact above 1.
        named = np.bincount(terms[impacts > UNIT], minlength=len(starts) - 1).astype(np.int32)
        doc_ids = doc_ids[order]
        top_terms, top_impacts, top_starts = _top_terms(len(rows), terms, doc_ids, impacts)
        lists = PostingLists(starts.astype(np.uint32), doc_ids, impacts, len(rows))
        return cls(rows, counts, dictionary, priors(rows), lists, named, top_terms, top_impacts, top_starts)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def terms(self) -> Ints:
        """The term of each posting."""
        starts = self.lists.starts
        return np.repeat(np.arange(len(starts) - 1, dtype=np.int32), starts[1:].astype(np.int64) - starts[:-1])

    def top_terms_of(self, document: int) -> tuple[Ints, Shorts]:
        """Return the terms of the TOP_TERMS words of a document, and the impact of each."""
        span = slice(self.top_starts[document], self.top_starts[document + 1])
        return self.top_terms[span], self.top_impacts[span]

    def name_frequencies(self, terms: Longs) -> Ints:
        """Return for each of `terms` the number of documents that have it in the name."""
        counts: Ints = self.named[np.minimum(terms, len(self.named) - 1)]
        return counts


def _stored(impacts: NDArray[np.float64]) -> Shorts:
    """Return the impacts of words in units of 1 / UNIT. None is exactly UNIT, which is that of special terms."""
    stored = np.rint(impacts * UNIT).astype(np.uint16)
    return np.where(stored == UNIT, np.where(impacts > 1, UNIT + 1, UNIT - 1), stored).astype(np.uint16)


def _top_terms(documents: int, terms: Ints, doc_ids: Ints, impacts: Shorts) -> tuple[Ints, Shorts, Longs]:
    """Return the terms and impacts of the TOP_TERMS words of each document, and where those of each document begin."""
    # Special terms, and only they, have an impact of 1.
    words = np.flatnonzero(impacts != UNIT)
    words = words[np.lexsort((-impacts[words].astype(np.int32), doc_ids[words]))]
    top_starts = np.searchsorted(doc_ids[words], np.arange(documents + 1))
    words = words[np.arange(len(words)) - top_starts[doc_ids[words]] < TOP_TERMS]
    return terms[words], impacts[words], np.searchsorted(doc_ids[words], np.arange(documents + 1))
