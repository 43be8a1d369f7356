"""A collection: the segments of one search, and the statistics over all of them."""

from __future__ import annotations

from collections.abc import Collection as Several
from collections.abc import Sequence

import numpy as np
from attrs import frozen

from ..text.thesaurus import Thesaurus
from .arrays import Longs
from .bm25 import inverse_document_frequency
from .lexicon import Lexicon
from .segment import Segment
from .vocabulary import Vocabulary

NAME_RATIO = 0.5
"""The share of a term's documents with it in the name, from which the term counts fully as a name."""

SMOOTHING = 4
"""Documents without the term in the name that are added for each term (additive smoothing)."""


FEW = 3
"""Terms that are faster to look up one by one."""


@frozen(eq=False)
class Collection:
    """Segments that are searched together, with their vocabulary, lexicon and thesaurus."""

    vocabulary: Vocabulary
    segments: Sequence[Segment]
    lexicon: Lexicon
    thesaurus: Thesaurus

    @property
    def size(self) -> int:
        return sum(map(len, self.segments))

    def document_frequencies(self, terms: Several[int]) -> list[int]:
        """Return the document frequency of each term."""
        if len(terms) <= FEW:
            return [self.document_frequency(term) for term in terms]
        numbers = np.fromiter(terms, np.int64, len(terms))
        found: list[int] = self.frequencies(numbers).tolist()
        return found

    def frequencies(self, terms: Longs) -> Longs:
        """Return the document frequency of each of `terms`, as an array."""
        counts = np.zeros(len(terms), np.int64)
        for segment in self.segments:
            counts += segment.lists.frequencies(terms)
        return counts

    def document_frequency(self, term: int) -> int:
        """Return the number of documents that have `term`."""
        return sum([segment.lists.frequency(term) for segment in self.segments])

    def idf(self, frequency: float, size: int | None = None) -> float:
        """Return the inverse document frequency for `frequency` of `size` documents, by default of all."""
        return inverse_document_frequency(frequency, self.size if size is None else size)

    def name_ratio(self, terms: Sequence[int], weights: Sequence[float]) -> float:
        """Return how far one of `terms`, times its weight, is a name: the maximum, 1 for a term that mostly is one."""
        if not terms:
            return 0.0
        numbers = np.array(terms, np.int64)
        named, held = np.zeros(len(terms), np.int64), np.full(len(terms), SMOOTHING)
        for segment in self.segments:
            named += segment.name_frequencies(numbers)
            held += segment.lists.frequencies(numbers)
        return float(np.max(np.minimum(1, named / held / NAME_RATIO) * np.array(weights)))
