"""What words of other scripts mean, learnt from the entries that are described in both."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..text.analysis import is_unsegmented
from .segment import Bools, Segment
from .vocabulary import Ints, Vocabulary

ENOUGH = 2
"""Entries that must have both words of a pair."""

TELLING = 0.3
"""The association (NPMI, Bouma 2009) from which a word is taken for a meaning of another."""

MAX_PAIRS, MAX_PAIRS_OF_ENTRY = 500_000, 250
"""Pairs of words that are counted: so many, and so many more for each entry. Real entries have 130 on average."""

MEANINGS = 5
"""Meanings that are kept of a word."""


@frozen
class Lexicon:
    """Words with their meanings in English, and the number of entries that have words of such scripts."""

    size: int = 0
    pairs: Mapping[str, Mapping[str, float]] = field(factory=dict)

    def meanings(self, token: str) -> Mapping[str, float]:
        """Return the terms that `token` may stand for, each with how much it is associated, up to 1."""
        return self.pairs.get(token, {})

    @classmethod
    def learnt(cls, segment: Segment, vocabulary: Vocabulary) -> Lexicon:
        """Return the lexicon that the entries of `segment` teach."""
        terms = vocabulary.terms
        foreign = np.fromiter((not term.isascii() and is_unsegmented(term) for term in terms), bool)
        native = np.fromiter((term.isascii() and term.isalpha() and len(term) > 2 for term in terms), bool)
        bilingual = np.zeros(len(segment), bool)
        bilingual[segment.holders[foreign[segment.terms]]] = True
        taught = int(np.count_nonzero(bilingual))
        used = bilingual[segment.holders] & (foreign | native)[segment.terms]
        holders, numbers = segment.holders[used], segment.terms[used]
        frequency = np.bincount(numbers, minlength=len(terms))
        known = (frequency >= ENOUGH)[numbers]
        most = MAX_PAIRS + MAX_PAIRS_OF_ENTRY * len(segment)
        pairs = _pairs(holders[known], numbers[known], foreign, len(terms), most)
        codes, together = np.unique(pairs, return_counts=True)
        codes, together = codes[together >= ENOUGH], together[together >= ENOUGH]
        left, right = codes // len(terms), codes % len(terms)
        shared = np.log(together / taught)
        # What all entries have in common is associated with nothing: 0 / 0 shall be 0.
        surprise = np.maximum(-shared, np.finfo(float).tiny)
        association = (shared - np.log(frequency[left] / taught) - np.log(frequency[right] / taught)) / surprise
        best: dict[str, dict[str, float]] = {}
        for number in np.argsort(-association, kind="stable"):
            if association[number] < TELLING:
                break
            meanings = best.setdefault(terms[left[number]], {})
            if len(meanings) < MEANINGS:
                meanings[terms[right[number]]] = float(association[number])
        return cls(taught, best)


def _pairs(holders: Ints, numbers: Ints, foreign: Bools, size: int, most: int) -> NDArray[np.int64]:
    """Return each pair of a foreign and a native term of one document, as one number; at most `most` pairs.

    Documents with the fewest pairs come first, so that a few long ones do not displace the others.
    """
    order = np.argsort(holders, kind="stable")
    holders, numbers = holders[order], numbers[order].astype(np.int64)
    starts = np.flatnonzero(np.diff(holders, prepend=-1))
    is_foreign = foreign[numbers]
    of_foreign = np.add.reduceat(is_foreign, starts, dtype=np.int64) if len(starts) else np.empty(0, np.int64)
    pairs = of_foreign * (np.diff(starts, append=len(numbers)) - of_foreign)
    fewest = np.argsort(pairs, kind="stable")
    chosen = np.sort(fewest[np.cumsum(pairs[fewest]) <= most])
    ends = np.append(starts[1:], len(numbers))
    found = [np.empty(0, np.int64)]
    for start, end in zip(starts[chosen].tolist(), ends[chosen].tolist(), strict=True):
        terms, kind = numbers[start:end], is_foreign[start:end]
        found.append((terms[kind][:, None] * size + terms[~kind][None, :]).ravel())
    return np.concatenate(found)
