"""Feedback: what the first hits have in common may be what was meant, too (pseudo-relevance feedback)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen

from ..index.collection import Collection
from ..index.segment import Floats, Segment
from ..query.terms import Postings
from .top_k import top_k

FIRST = 12
"""Hits that are taken for what was meant."""

TERMS = 10
"""Terms that they have in common, the most telling first."""

IN_COMMON = 2
"""Hits that have a term in common, at the least."""

KNOWN = 3
"""Documents from which a term is more than chance, and letters from which it is a word."""

LIKENESS = 0.3
"""What the document scores that is most like the first hits, as a share of what the first one does."""


@frozen
class Feedback:
    """The terms that the first hits have in common, each with its worth, and what a document scores for all of them.

    What is among `names` scores as if nothing were more like the first hits: its name says more than likeness does.
    """

    terms: Sequence[tuple[int, float]]
    worth: float
    names: Sequence[Sequence[Postings]]
    typed: str = "like the first hits"

    def found(self, segments: Sequence[Segment]) -> list[Postings]:
        numbers = np.array([term for term, _ in self.terms], np.int64)
        worths = np.array([worth for _, worth in self.terms])
        totals = []
        for segment in segments:
            holders, impacts, counts = segment.all_postings(numbers)
            totals.append(np.bincount(holders, impacts * np.repeat(worths, counts), len(segment)).astype(np.float32))
        most = max((float(total.max(initial=0)) for total in totals), default=0.0)
        for postings in self.names:
            for total, (holders, _) in zip(totals, postings, strict=True):
                total[holders] = most
        share = np.float32(self.worth / most)
        return [(holders := np.flatnonzero(total > 0).astype(np.int32), total[holders] * share) for total in totals]


def feedback(totals: Sequence[Floats], among: Collection, names: Sequence[Sequence[Postings]]) -> Feedback | None:
    """Return what the first hits by `totals` have in common, or None where that is nothing."""
    first = _first(totals)
    if len(first) < FIRST:
        return None
    sure = np.array([score for score, _, _ in first], np.float32)
    contents = [among.segments[number].contents(document) for _, number, document in first]
    terms = np.concatenate([each for each, _ in contents])
    impacts = np.concatenate([impacts for _, impacts in contents])
    impacts *= np.repeat(sure / sure.sum(), [len(each) for each, _ in contents])
    terms, which, counts = np.unique(terms, return_inverse=True, return_counts=True)
    weights = np.bincount(which, impacts)
    common = counts >= IN_COMMON
    terms, weights = terms[common], weights[common]
    frequencies = np.array(among.frequencies(terms), float)
    rarities = np.log(1 + (among.size - frequencies + 0.5) / (frequencies + 0.5))
    worths = weights * rarities * (frequencies >= KNOWN)
    chosen: list[tuple[int, float]] = []
    for place in np.argsort(-worths, kind="stable").tolist():
        if len(chosen) == TERMS or worths[place] <= 0:
            break
        term = int(terms[place])
        if _is_word(among.vocabulary.terms[term]):
            chosen.append((term, float(worths[place])))
    return Feedback(chosen, LIKENESS * first[0][0], names) if chosen else None


def _first(totals: Sequence[Floats]) -> list[tuple[float, int, int]]:
    """Return the score, the segment and the document of each of the first FIRST hits."""
    found = [
        (float(total[document]), number, document)
        for number, total in enumerate(totals)
        for document in top_k(total, FIRST).tolist()
    ]
    found.sort(key=lambda each: (-each[0], *each[1:]))
    return found[:FIRST]


def _is_word(term: str) -> bool:
    return len(term) >= KNOWN and term.isascii() and term.isalpha()
