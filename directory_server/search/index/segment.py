"""Segments: the postings of many documents, as arrays, and their query-independent priors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from .arrays import Bools, Floats, Ints, Longs, Shorts
from .bm25 import impacts as bm25_impacts
from .dictionary import Dictionary
from .document import EXACT_NAME, SHORT_NAME, WEIGHT, Document
from .joining import Joined, Source, grouped, joined, sums
from .memory import Keep, in_memory
from .merging import UNIT, PostingLists
from .rows import Rows
from .vocabulary import Vocabulary

DOCUMENTS = 50_000
"""Documents whose words are copied at a time."""

TOP_TERMS = 64
"""Words of a document, those of the greatest impact, that feedback looks at."""


Tops = tuple[Ints, Shorts, Longs, Shorts]
"""The columns `top_terms`, `top_impacts`, `top_starts` and `described` of a segment."""


@frozen(eq=False)
class Segment:
    """Documents, and an inverted index of them.

    `rows` and `priors` are by document number. `named` has for each place in the posting lists the number of documents
    with the term in the name. `top_terms` and `top_impacts` have the TOP_TERMS words of each document; those of a
    document begin at `top_starts[document]`, and the first `described[document]` of them stand in its description.
    """

    rows: Rows
    dictionary: Dictionary
    priors: Floats
    lists: PostingLists
    named: Ints
    top_terms: Ints
    top_impacts: Shorts
    top_starts: Longs
    described: Shorts

    @classmethod
    def of(cls, documents: Sequence[Document], vocabulary: Vocabulary) -> Segment:
        """Return a segment of `documents`."""
        words = vocabulary.number_words([word for document in documents for word in document.words.split()])
        weights = np.frombuffer(b"".join(document.weights for document in documents), WEIGHT)
        sizes = np.array([len(document.weights) // WEIGHT.itemsize for document in documents], np.int64)
        doc_ids = np.repeat(np.arange(len(documents)), sizes)
        firsts = np.cumsum(sizes) - sizes
        positions = np.arange(len(words)) - np.repeat(firsts, sizes)
        named = positions < np.repeat(np.array([document.named for document in documents], np.int64), sizes)
        described = np.zeros(len(words), bool)
        for first, document in zip(firsts.tolist(), documents, strict=True):
            described[first + np.array(document.described, np.int64)] = True
        size = len(vocabulary) + 1
        # Several words of a document may have one term.
        codes, which = np.unique(vocabulary.terms_of(words) + doc_ids * size, return_inverse=True)
        frequency = np.bincount(which, weights, len(codes))
        impacts = _stored(bm25_impacts(frequency, np.bincount(which, named, len(codes)) > 0))
        in_description = np.bincount(which, described, len(codes)) > 0
        top = _top_terms(len(documents), (codes % size).astype(np.int32), codes // size, impacts, in_description)

        names = vocabulary.number_words(
            term
            for document in documents
            for term in document.special_terms
            if term.startswith((SHORT_NAME, EXACT_NAME))
        )
        numbers = vocabulary.number(term for document in documents for term in document.special_terms)
        special_doc_ids = np.repeat(np.arange(len(documents)), [len(document.special_terms) for document in documents])
        return cls._from_postings(
            Rows.of([document.row for document in documents]),
            Dictionary.of(*np.unique(np.concatenate([words, names]), return_counts=True), vocabulary),
            grouped(
                np.concatenate([codes % size, numbers]).astype(np.int32),
                np.concatenate([codes // size, special_doc_ids]).astype(np.int32),
                np.concatenate([impacts, np.full(len(numbers), UNIT, np.uint16)]),
            ),
            top,
        )

    @classmethod
    def merge(cls, parts: Sequence[tuple[Segment, Bools]], vocabulary: Vocabulary) -> Segment:
        """Return a segment of the live documents of `parts`, each a segment with its live documents.

        The counts of words still include deleted documents: they only show which words are common.
        """
        postings = joined([(segment.lists, live) for segment, live in parts])
        dictionary = Dictionary.of(*_merged_counts(parts), vocabulary)
        rows = Rows.merge([(segment.rows, live) for segment, live in parts])
        return cls._from_postings(rows, dictionary, postings, _merged_tops(parts))

    @classmethod
    def merge_all(
        cls, parts: Sequence[tuple[Segment, Bools]], vocabulary: Vocabulary, keep: Keep = in_memory
    ) -> tuple[Segment, Vocabulary]:
        """Return such a segment of all documents there are, and a new vocabulary with its strings only.

        Large arrays are those that `keep` returns.
        """
        used = np.zeros(len(vocabulary), bool)
        for segment, live in parts:
            for terms, _ in Source(segment.lists, live, 0).counts():
                used[terms] = True
            keep.forget()
        words, counts = _used_counts(parts, used, vocabulary)
        used[words] = True
        new, mapping = vocabulary.rebuilt(used, keep)
        segment = cls._from_postings(
            Rows.merge([(segment.rows, live) for segment, live in parts], keep),
            Dictionary.whole(mapping[words], counts, new, keep),
            joined([(segment.lists, live) for segment, live in parts], mapping, len(new), keep),
            _merged_tops(parts, mapping, keep),
            keep,
        )
        return segment, new

    @classmethod
    def _from_postings(
        cls,
        rows: Rows,
        dictionary: Dictionary,
        postings: Joined,
        top: Tops,
        keep: Keep = in_memory,
    ) -> Segment:
        """Return a segment with these postings."""
        known, doc_ids = postings.known, postings.doc_ids
        starts = np.zeros(len(postings.counts) + 2, np.uint32)
        np.cumsum(postings.counts, out=starts[1:-1])
        starts[-1] = len(doc_ids)
        places = None if known is None else known.astype(np.int32)
        lists = PostingLists(keep(starts), doc_ids, postings.impacts, len(rows), places)
        return cls(rows, dictionary, keep(priors(rows)), lists, _named(lists, keep), *top)

    def __len__(self) -> int:
        return len(self.rows)

    def top_terms_of(self, document: int) -> tuple[Ints, Shorts]:
        """Return the terms of the TOP_TERMS words of a document, and the impact of each."""
        span = slice(self.top_starts[document], self.top_starts[document + 1])
        return self.top_terms[span], self.top_impacts[span]

    def name_frequencies(self, terms: Longs) -> Ints:
        """Return for each of `terms` the number of documents that have it in the name."""
        counts: Ints = self.named[self.lists.rows(terms)]
        return counts

    def name_frequency(self, term: int) -> int:
        """Return the number of documents that have `term` in the name."""
        return int(self.named[self.lists.row(term)])


def _stored(impacts: NDArray[np.float64]) -> Shorts:
    """Return the impacts of words in units of 1 / UNIT. None is exactly UNIT, which is that of special terms."""
    stored = np.rint(impacts * UNIT).astype(np.uint16)
    return np.where(stored == UNIT, np.where(impacts > 1, UNIT + 1, UNIT - 1), stored).astype(np.uint16)


def _top_terms(documents: int, terms: Ints, doc_ids: Longs, impacts: Shorts, described: Bools) -> Tops:
    """Return the TOP_TERMS words of each document: those in its description, and then those of the greatest impact."""
    words = np.lexsort((-impacts.astype(np.int32), ~described, doc_ids))
    starts = np.searchsorted(doc_ids[words], np.arange(documents + 1))
    words = words[np.arange(len(words)) - starts[doc_ids[words]] < TOP_TERMS]
    counts = np.bincount(doc_ids[words][described[words]], minlength=documents).astype(np.uint16)
    return terms[words], impacts[words], np.searchsorted(doc_ids[words], np.arange(documents + 1)), counts


def _named(lists: PostingLists, keep: Keep) -> Ints:
    """Return for each place in `lists` the number of documents with the term in the name."""
    found = keep.empty(len(lists.starts) - 1, np.int32)
    # The last place has no postings.
    found[-1] = 0
    for places, postings in lists.chunks():
        # Only words in the name have an impact above 1.
        found[places] = sums(lists.impacts[postings] > UNIT, lists.counts(places))
    keep.forget()
    return found


def _used_counts(
    parts: Sequence[tuple[Segment, Bools]], used: Bools, vocabulary: Vocabulary
) -> tuple[Longs, NDArray[np.uint32]]:
    """Return the numbers of the words of `parts` whose terms are `used`, and the count of each."""
    counts = np.zeros(len(vocabulary), np.uint32)
    for segment, _ in parts:
        numbers, added = segment.dictionary.word_counts()
        counts[numbers] += added.astype(np.uint32)
    words = np.flatnonzero(counts)
    words = words[used[vocabulary.terms_of(words)]]
    return words, counts[words]


def _merged_counts(parts: Sequence[tuple[Segment, Bools]]) -> tuple[Longs, Longs]:
    """Return the numbers of the words of `parts`, and the count of each."""
    every = [segment.dictionary.word_counts() for segment, _ in parts]
    numbers, which = np.unique(np.concatenate([numbers for numbers, _ in every]), return_inverse=True)
    counts = np.bincount(which, np.concatenate([counts for _, counts in every]), len(numbers))
    return numbers, counts.astype(np.int64)


def _merged_tops(parts: Sequence[tuple[Segment, Bools]], mapping: Ints | None = None, keep: Keep = in_memory) -> Tops:
    lengths = np.concatenate([np.diff(segment.top_starts)[live] for segment, live in parts])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    terms, impacts = keep.empty(int(starts[-1]), np.int32), keep.empty(int(starts[-1]), np.uint16)
    place = 0
    for segment, live in parts:
        for first in range(0, len(live), DOCUMENTS):
            # The starts of these documents, and the one after them.
            bounds = segment.top_starts[first : first + DOCUMENTS + 1]
            kept = np.repeat(live[first : first + DOCUMENTS], np.diff(bounds))
            found = segment.top_terms[bounds[0] : bounds[-1]][kept]
            end = place + len(found)
            terms[place:end] = found if mapping is None else mapping[found]
            impacts[place:end] = segment.top_impacts[bounds[0] : bounds[-1]][kept]
            place = end
            keep.forget()
    described = np.concatenate([segment.described[live] for segment, live in parts])
    return terms, impacts, keep(starts), keep(described)


SECOND_COPY_PENALTY, FURTHER_COPY_PENALTY = 0.05, 0.1
"""Penalties of the second and of each further entry with the same description, so that forks do not fill a page."""


def priors(rows: Rows) -> Floats:
    """Return the priors of documents. Of those with one description, the one with the greatest prior has no penalty."""
    # The greatest penalty is added to all, so that none is below 0, except copies of servers that are down.
    found = (rows.priors + np.float32(FURTHER_COPY_PENALTY)).astype(np.float32)
    order = np.lexsort((-rows.priors, rows.briefs))
    briefs, best = rows.briefs[order], rows.priors[order]
    order = order[briefs != 0]
    briefs, best = briefs[briefs != 0], best[briefs != 0]
    starts = np.flatnonzero(np.concatenate([[True], briefs[1:] != briefs[:-1]])) if len(briefs) else np.empty(0, int)
    sizes = np.diff(starts, append=len(briefs))
    for start, size in zip(starts[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        numbers = order[start : start + size].tolist()
        if np.any(best[start : start + size - 1] == best[start + 1 : start + size]):
            numbers.sort(key=lambda number: (-rows.priors[number], rows.name(number)))
        found[numbers[1]] -= np.float32(SECOND_COPY_PENALTY)
        found[numbers[2:]] -= np.float32(FURTHER_COPY_PENALTY)
    return np.maximum(found, np.float32(0))
