"""Term groups: alternative terms for one part of a query, with one rarity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

import numpy as np
from attrs import frozen

from ..index.collection import Collection
from ..index.merging import NO_POSTINGS, Postings
from ..index.segment import Segment


@frozen
class TermGroup:
    """Alternative terms for one part of the query, each with its weight, and their inverse document frequency.

    A document scores by its best term. With `match_all` it must have all terms, and scores by its worst.
    """

    label: str
    terms: Mapping[int, float]
    idf: float
    match_all: bool = False

    def postings(self, segments: Sequence[Segment]) -> list[Postings]:
        """Return for each of `segments` the matching documents and their scores."""
        return [self._in_segment(segment) for segment in segments]

    def _in_segment(self, segment: Segment) -> Postings:
        if len(self.terms) == 1:
            ((term, weight),) = self.terms.items()
            return segment.lists.scores_of(term, self.idf * weight)
        if segment.lists.lacks_all(self.terms):
            return NO_POSTINGS
        terms = np.fromiter(self.terms, np.int64, len(self.terms))
        weights = np.fromiter(self.terms.values(), np.float64, len(terms)) * self.idf
        merge = segment.lists.least_of if self.match_all else segment.lists.best_of
        return merge(terms, weights)


@frozen
class Part:
    """A distinct part of a query, usually a word: its weight (idf), and its groups of terms.

    It has no groups if no document has a term. The concepts whose expressions have one of the `stems` count for the
    part, too. A document scores by the sum of the groups, or by the best one if they are `alternatives`. `is_corrected`
    is true if the documents have only corrections of the word, `is_general` if only the dictionary translates it.
    """

    stems: Set[str]
    weight: float
    groups: Sequence[TermGroup]
    alternatives: bool = False
    is_corrected: bool = False
    is_general: bool = False


def add_terms(weights: dict[int, float], collection: Collection, words: Mapping[str, float]) -> None:
    """Raise `weights` of the terms of `words` to those given."""
    found = {term: weight for word, weight in words.items() if (term := collection.word(word)[0]) is not None}
    raise_weights(weights, found)


def raise_weights(weights: dict[int, float], others: Mapping[int, float]) -> None:
    """Raise `weights` to those of `others` that are greater."""
    for term, weight in others.items():
        if weight > weights.get(term, 0.0):
            weights[term] = weight


def group_of(
    label: str, weights: Mapping[int, float], collection: Collection, size: int | None = None
) -> TermGroup | None:
    """Return the group of the terms that any document has, or None. `size` is the number of documents for one term."""
    if not weights:
        return None
    if len(weights) == 1:
        # Most groups have one term.
        ((term, weight),) = weights.items()
        count = collection.document_frequency(term)
        return TermGroup(label, {term: weight}, collection.idf(count, size)) if count else None
    counts = collection.document_frequencies(weights)
    present = [(term, weight, count) for (term, weight), count in zip(weights.items(), counts, strict=True) if count]
    if not present:
        return None
    most = max([weight for _, weight, _ in present])
    frequency = sum([weight / most * count for _, weight, count in present])
    idf = collection.idf(frequency, size if len(present) == 1 else None)
    return TermGroup(label, {term: weight for term, weight, _ in present}, idf)
