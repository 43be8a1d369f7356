"""What the terms of a query are looked up in."""

from __future__ import annotations

from collections.abc import Collection as Several
from collections.abc import Sequence
from math import log

import numpy as np
from attrs import frozen

from ..text.thesaurus import Thesaurus
from .lexicon import Lexicon
from .segment import Segment
from .vocabulary import Vocabulary

WHOLLY_NAMED = 0.5
"""The share of those that mention a word that are named by it, from which it is a name and nothing else."""

DOUBT = 4
"""Entries that mention a word without being named by it, which are assumed of every word."""


@frozen(eq=False)
class Collection:
    """Some segments that are searched together, and what helps to understand queries of them."""

    vocabulary: Vocabulary
    segments: Sequence[Segment]
    lexicon: Lexicon
    thesaurus: Thesaurus

    @property
    def size(self) -> int:
        return sum(map(len, self.segments))

    def frequencies(self, terms: Several[int]) -> list[int]:
        """Return for each term the number of documents that have it."""
        if len(terms) == 1:
            return [self.frequency(term) for term in terms]
        numbers = np.fromiter(terms, np.int64, len(terms))
        counts = np.zeros(len(numbers), np.int64)
        for segment in self.segments:
            counts += segment.frequencies(numbers)
        found: list[int] = counts.tolist()
        return found

    def frequency(self, term: int) -> int:
        """Return the number of documents that have a term."""
        return sum(len(segment.postings(term)[0]) for segment in self.segments)

    def rarity(self, frequency: float, size: int | None = None) -> float:
        """Return how telling it is to have what `frequency` of `size` documents have (idf of BM25)."""
        size = self.size if size is None else size
        frequency = min(frequency, size)
        return log(1 + (size - frequency + 0.5) / (frequency + 0.5))

    def naming(self, terms: Sequence[int], weights: Sequence[float]) -> float:
        """Return how much one of `terms` is a name, times its weight: 1 for one that many entries are named by."""
        if not terms:
            return 0.0
        numbers = np.array(terms, np.int64)
        named, held = np.zeros(len(terms), np.int64), np.full(len(terms), DOUBT)
        for segment in self.segments:
            named += segment.namings(numbers)
            held += segment.frequencies(numbers)
        return float(np.max(np.minimum(1, named / held / WHOLLY_NAMED) * np.array(weights)))
