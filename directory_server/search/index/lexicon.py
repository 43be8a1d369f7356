"""A bilingual lexicon, learnt from entries that have descriptions in two scripts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..text.analysis import is_unsegmented
from .arrays import Bools, Ints
from .merging import PostingLists
from .segment import Segment
from .vocabulary import Vocabulary

MIN_DOCUMENTS = 2
"""Documents that must have both words of a pair."""

MIN_NPMI = 0.3
"""The least association of a word and its translation (normalised pointwise mutual information, Bouma 2009)."""

MAX_PAIRS, MAX_PAIRS_PER_DOCUMENT = 500_000, 250
"""Pairs of words that are counted: a fixed number, and a number for each document. Real entries have 130 on average."""

MOST_PAIRS = 16_000_000
"""Pairs that are counted however many documents there are. They take 130 MB while the lexicon is learnt."""

GROWTH = 1.25
"""Growth, or the reverse, of the number of documents after which the lexicon is learnt again."""

MAX_TRANSLATIONS = 5
"""Translations of one word."""


@frozen
class Lexicon:
    """English translations of words, and the number of documents with words of unsegmented scripts (`size`).

    It was learnt from so many `documents`.
    """

    size: int = 0
    pairs: Mapping[str, Mapping[str, float]] = field(factory=dict)
    documents: int = 0

    def translations(self, token: str) -> Mapping[str, float]:
        """Return the terms that `token` may translate to, each with its association, at most 1."""
        return self.pairs.get(token, {})

    def is_due(self, documents: int) -> bool:
        """Return whether the lexicon of so many documents should be learnt again."""
        return documents >= GROWTH * self.documents or GROWTH * documents <= self.documents

    @classmethod
    def learn(cls, segment: Segment, vocabulary: Vocabulary) -> Lexicon:
        """Return the lexicon of the documents of `segment`."""
        lists = segment.lists
        foreign, native = _scripts(segment, vocabulary)
        bilingual = np.zeros(len(segment), bool)
        bilingual[lists.doc_ids[_by_posting(foreign, lists)]] = True
        size = int(np.count_nonzero(bilingual))
        used = np.flatnonzero(bilingual[lists.doc_ids] & _by_posting(foreign | native, lists))
        doc_ids = lists.doc_ids[used]
        numbers = np.searchsorted(lists.starts, used.astype(np.uint32), side="right").astype(np.int32) - 1
        if lists.known is not None:
            numbers = lists.known[numbers]
        frequency = np.bincount(numbers, minlength=len(vocabulary))
        known = (frequency >= MIN_DOCUMENTS)[numbers]
        most = min(MAX_PAIRS + MAX_PAIRS_PER_DOCUMENT * len(segment), MOST_PAIRS)
        pairs = _pairs(doc_ids[known], numbers[known], foreign, len(vocabulary), most)
        # Sorted in place: a copy of all pairs may take as much memory as the index.
        pairs.sort()
        is_first = np.ones(len(pairs), bool)
        np.not_equal(pairs[1:], pairs[:-1], out=is_first[1:])
        starts = np.flatnonzero(is_first)
        codes, together = pairs[starts], np.diff(starts, append=len(pairs))
        codes, together = codes[together >= MIN_DOCUMENTS], together[together >= MIN_DOCUMENTS]
        left, right = codes // len(vocabulary), codes % len(vocabulary)
        shared = np.log(together / size)
        # A word of all documents has no association: 0 / 0 must be 0.
        surprise = np.maximum(-shared, np.finfo(float).tiny)
        association = (shared - np.log(frequency[left] / size) - np.log(frequency[right] / size)) / surprise
        kept = association >= MIN_NPMI
        left, right, association = left[kept], right[kept], association[kept]
        order = np.lexsort((-association, left))
        left, right, association = left[order], right[order], association[order]
        starts = np.flatnonzero(np.diff(left, prepend=-1))
        rank = np.arange(len(left)) - np.repeat(starts, np.diff(starts, append=len(left)))
        kept = rank < MAX_TRANSLATIONS
        words, translations = vocabulary.strings(left[kept].tolist()), vocabulary.strings(right[kept].tolist())
        best: dict[str, dict[str, float]] = {}
        for word, translation, weight in zip(words, translations, association[kept].tolist(), strict=True):
            best.setdefault(word, {})[translation] = weight
        return cls(size, best, len(segment))


def _scripts(segment: Segment, vocabulary: Vocabulary) -> tuple[Bools, Bools]:
    """Return which terms are of scripts without spaces, and which are English words of MIN_DOCUMENTS documents."""
    foreign, native = np.zeros(len(vocabulary), bool), np.zeros(len(vocabulary), bool)
    frequencies = segment.lists.frequencies(np.arange(len(vocabulary)))
    is_ascii = vocabulary.are_ascii()
    numbers = np.flatnonzero((frequencies > 0) & ~is_ascii)
    foreign[numbers] = [is_unsegmented(term) for term in vocabulary.strings(numbers.tolist())]
    numbers = np.flatnonzero((frequencies >= MIN_DOCUMENTS) & is_ascii)
    native[numbers] = [term.isalpha() and len(term) > 2 for term in vocabulary.strings(numbers.tolist())]
    return foreign, native


def _pairs(doc_ids: Ints, numbers: Ints, foreign: Bools, size: int, most: int) -> NDArray[np.int64]:
    """Return each pair of a foreign and a native term of one document as one number; at most `most` pairs.

    Documents with the fewest pairs come first, so that a few long ones do not use up the limit.
    """
    order = np.argsort(doc_ids, kind="stable")
    doc_ids, numbers = doc_ids[order], numbers[order].astype(np.int64)
    starts = np.flatnonzero(np.diff(doc_ids, prepend=-1))
    is_foreign = foreign[numbers]
    foreign_counts = np.add.reduceat(is_foreign, starts, dtype=np.int64) if len(starts) else np.empty(0, np.int64)
    pairs = foreign_counts * (np.diff(starts, append=len(numbers)) - foreign_counts)
    fewest = np.argsort(pairs, kind="stable")
    chosen = np.sort(fewest[np.cumsum(pairs[fewest]) <= most])
    ends = np.append(starts[1:], len(numbers))
    found, place = np.empty(int(pairs[chosen].sum()), np.int64), 0
    for start, end in zip(starts[chosen].tolist(), ends[chosen].tolist(), strict=True):
        terms, kind = numbers[start:end], is_foreign[start:end]
        codes = (terms[kind][:, None] * size + terms[~kind][None, :]).ravel()
        found[place : place + len(codes)] = codes
        place += len(codes)
    return found


def _by_posting(of_terms: Bools, lists: PostingLists) -> Bools:
    """Return the value of its term for each posting of a segment."""
    by_place = of_terms if lists.known is None else of_terms[lists.known]
    return np.repeat(by_place, lists.counts()[: len(by_place)])
