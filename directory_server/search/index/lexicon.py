"""A bilingual lexicon, learnt from entries that have descriptions in two scripts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..text.analysis import is_unsegmented
from .arrays import Bools, Ints
from .memory import Keep, in_memory
from .merging import PostingLists
from .segment import Segment
from .strings import BATCH
from .vocabulary import Vocabulary

MIN_DOCUMENTS = 2
"""Documents that must have both words of a pair."""

MIN_NPMI = 0.3
"""The least association of a word and its translation (normalised pointwise mutual information, Bouma 2009)."""

MAX_PAIRS, MAX_PAIRS_PER_DOCUMENT = 500_000, 250
"""Pairs of words that are counted: a fixed number, and a number for each document. Real entries have 130 on average."""

MOST_PAIRS = 16_000_000
"""Pairs that are counted however many documents there are. They take 130 MB while the lexicon is learnt."""

SLICE = 1_000_000
"""Sorted pairs that are counted at a time."""

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
    def learn(cls, segment: Segment, vocabulary: Vocabulary, keep: Keep = in_memory) -> Lexicon:
        """Return the lexicon of the documents of `segment`, whose arrays `keep` has made."""
        foreign, native = _scripts(segment, vocabulary)
        size, doc_ids, numbers = _bilingual(segment.lists, foreign, native)
        keep.forget()
        frequency = np.bincount(numbers, minlength=len(vocabulary))
        known = (frequency >= MIN_DOCUMENTS)[numbers]
        most = min(MAX_PAIRS + MAX_PAIRS_PER_DOCUMENT * len(segment), MOST_PAIRS)
        doc_ids, numbers = doc_ids[known], numbers[known]
        codes, together = _repeated(_pairs(doc_ids, numbers, foreign, len(vocabulary), most))
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
    frequencies = np.zeros(len(vocabulary), np.uint32)
    for places, _ in segment.lists.chunks():
        frequencies[segment.lists.terms_at(places)] = segment.lists.counts(places)
    is_ascii = vocabulary.are_ascii()
    _mark(foreign, (frequencies > 0) & ~is_ascii, is_unsegmented, vocabulary)
    _mark(native, (frequencies >= MIN_DOCUMENTS) & is_ascii, _is_english, vocabulary)
    return foreign, native


def _is_english(term: str) -> bool:
    return term.isalpha() and len(term) > 2


def _mark(marks: Bools, of: Bools, is_of_kind: Callable[[str], bool], vocabulary: Vocabulary) -> None:
    """Set the marks of the strings where `of` is true."""
    for first in range(0, len(of), BATCH):
        numbers = first + np.flatnonzero(of[first : first + BATCH])
        marks[numbers] = [is_of_kind(term) for term in vocabulary.strings(numbers.tolist())]


def _bilingual(lists: PostingLists, foreign: Bools, native: Bools) -> tuple[int, Ints, Ints]:
    """Return the number of documents with `foreign` terms, and their postings of terms of both kinds.

    These are the document and the term of each.
    """
    bilingual = np.zeros(lists.documents, bool)
    for places, postings in lists.chunks():
        bilingual[lists.doc_ids[postings][_by_posting(foreign, lists, places)]] = True
    either = foreign | native
    doc_ids, numbers = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for places, postings in lists.chunks():
        of_chunk = lists.doc_ids[postings]
        used = bilingual[of_chunk] & _by_posting(either, lists, places)
        doc_ids.append(of_chunk[used])
        numbers.append(np.repeat(lists.terms_at(places).astype(np.int32), lists.counts(places))[used])
    return int(np.count_nonzero(bilingual)), np.concatenate(doc_ids), np.concatenate(numbers)


def _repeated(pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different ones of `pairs` that are there MIN_DOCUMENTS times or more, sorted, and these numbers.

    `pairs` is sorted in place: a copy may take as much memory as the index.
    """
    pairs.sort()
    codes, counts, begin = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
    while begin < len(pairs):
        end = min(begin + SLICE, len(pairs))
        # All that are equal to the last one belong to the slice.
        end = int(np.searchsorted(pairs, pairs[end - 1], side="right"))
        different, found = np.unique(pairs[begin:end], return_counts=True)
        enough = found >= MIN_DOCUMENTS
        codes.append(different[enough])
        counts.append(found[enough])
        begin = end
    return np.concatenate(codes), np.concatenate(counts)


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


def _by_posting(of_terms: Bools, lists: PostingLists, places: slice) -> Bools:
    """Return the value of its term for each posting of `places`."""
    return np.repeat(of_terms[lists.terms_at(places)], lists.counts(places))
