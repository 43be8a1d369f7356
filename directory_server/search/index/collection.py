"""A collection: the segments of one search, and the statistics over all of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from collections.abc import Collection as Several
from functools import lru_cache, partial
from typing import Any, TypeVar
from weakref import proxy

import numpy as np
from attrs import define, field

from ..text.analysis import stem
from ..text.thesaurus import Thesaurus
from .arrays import Longs
from .bm25 import inverse_document_frequency
from .lexicon import Lexicon
from .segment import Segment
from .vocabulary import Vocabulary

T = TypeVar("T")

NAME_RATIO = 0.5
"""The share of a term's documents with it in the name, from which the term counts fully as a name."""

SMOOTHING = 4
"""Documents without the term in the name that are added for each term (additive smoothing)."""

FEW = 16
"""Terms that are faster to look up one by one."""


@define(eq=False)
class Collection:
    """Segments that are searched together, with their vocabulary, lexicon and thesaurus.

    `size` is the number of their documents, deleted ones included.
    """

    vocabulary: Vocabulary
    segments: Sequence[Segment]
    lexicon: Lexicon
    thesaurus: Thesaurus
    size: int = field(init=False)
    _made: dict[Hashable, Any] = field(factory=dict, init=False, repr=False)

    @size.default
    def _size_of_segments(self) -> int:
        return sum(map(len, self.segments))

    def find(self, string: str) -> int | None:
        """Return the number of a string, or None."""
        return self.vocabulary.find(string)

    def word(self, word: str) -> tuple[int | None, int]:
        """Return the number of the term of a word, or None, and the number of documents that have it."""
        term = self.vocabulary.find(stem(word))
        return term, 0 if term is None else self.document_frequency(term)

    def document_frequency(self, term: int) -> int:
        """Return the number of documents that have a term."""
        return sum([segment.lists.frequency(term) for segment in self.segments])

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` returned for `key` the first time. There must be few keys: no text of a query."""
        try:
            found: T = self._made[key]
        except KeyError:
            found = self._made[key] = make()
        return found

    def cached(self, function: Callable[[Collection, str], T], size: int) -> Callable[[str], T]:
        """Return `function` of this collection and a word, with a cache of `size` results. There must be few functions.

        The cache refers to the collection weakly: a cycle would keep the arrays of an old one.
        """
        try:
            found: Callable[[str], T] = self._made[function]
        except KeyError:
            found = self._made[function] = lru_cache(size)(partial(function, proxy(self)))
        return found

    def term(self, word: str) -> int | None:
        """Return the number of the term of a word, or None."""
        return self.word(word)[0]

    def document_frequencies(self, terms: Several[int]) -> list[int]:
        """Return the document frequency of each term."""
        if len(terms) <= FEW:
            return [*map(self.document_frequency, terms)]
        numbers = np.fromiter(terms, np.int64, len(terms))
        found: list[int] = self.frequencies(numbers).tolist()
        return found

    def frequencies(self, terms: Longs) -> Longs:
        """Return the document frequency of each of `terms`, as an array."""
        counts = np.zeros(len(terms), np.int64)
        for segment in self.segments:
            counts += segment.lists.frequencies(terms)
        return counts

    def idf(self, frequency: float, size: int | None = None) -> float:
        """Return the inverse document frequency for `frequency` of `size` documents, by default of all."""
        return inverse_document_frequency(frequency, self.size if size is None else size)

    def name_ratio(self, terms: Sequence[int], weights: Sequence[float]) -> float:
        """Return how far one of `terms`, times its weight, is a name: the maximum, 1 for a term that mostly is one."""
        # A share is at most 1: completions rarely exceed the word itself, which weighs more.
        heaviest = max(weights, default=0.0)
        first = [term for term, weight in zip(terms, weights, strict=True) if weight == heaviest]
        most = max([self._name_share(term) * heaviest for term in first[:FEW]], default=0.0)
        left = [pair for pair in zip(terms, weights, strict=True) if pair[1] > most]
        if len(left) <= FEW:
            return max([most, *(self._name_share(term) * weight for term, weight in left)])
        terms, weights = zip(*left, strict=True)
        numbers = np.array(terms, np.int64)
        named, held = np.zeros(len(terms), np.int64), np.full(len(terms), SMOOTHING)
        for segment in self.segments:
            named += segment.name_frequencies(numbers)
            held += segment.lists.frequencies(numbers)
        return float(np.max(np.minimum(1, named / held / NAME_RATIO) * np.array(weights)))

    def _name_share(self, term: int) -> float:
        """Return the share of the documents with a term that have it in the name, in units of NAME_RATIO, at most 1."""
        named = sum([segment.name_frequency(term) for segment in self.segments])
        return min(1.0, named / (self.document_frequency(term) + SMOOTHING) / NAME_RATIO)
