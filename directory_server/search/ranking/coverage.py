"""Coverage and top k: add up the evidence of a plan, and lower the scores of documents that lack parts of the query.

A sum alone prefers a document with much of one part to one with some of each part. The factor is a soft AND: it is the
coordination level (Cleverdon 1967), with the weights of the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..index.arrays import Floats, Longs
from ..index.merging import Postings, add_up, best
from ..index.segment import Segment
from ..query.groups import Part
from ..query.plan import Evidence, Plan

LOSS = 0.4
"""The share of its score that a document loses if it covers no part of the query."""

COVERED = 0.4
"""The score for a part, as a share of its weight, that covers the part: about that of a word in a long text."""

RARE = 6.0
"""The weight of a word (idf) from which it counts by the square of its weight."""

PRIOR_SHARE = 1.5
"""Share of a score that a prior of 1 adds to it: noise in a query, which matches nothing, adds nothing."""

MAX_RAISED = 2.0
"""The greatest score that a prior raises, in weights of the query. A prior must not outweigh an exact name."""

Trace = Callable[[str, Sequence[Postings]], None]
"""Receives the label of each piece of evidence, and its postings in each segment."""


class Matches:
    """The documents that match a plan.

    `names` has the postings of each prefix or fuzzy name match in each segment.
    """

    def __init__(self, plan: Plan, segments: Sequence[Segment], trace: Trace | None = None) -> None:
        self._segments = segments
        self._trace = trace
        concepts = [(concept, concept.postings(segments)) for concept in plan.concepts]
        if trace:
            for concept, found in concepts:
                trace(concept.label, _times(found, concept.max_score))
        limits = covers(plan)
        parts = []
        for part in plan.parts:
            of_part = [self._best(part)] if part.alternatives else [self._postings(group) for group in part.groups]
            for concept, found in concepts:
                if share := sum(concept.shares.get(term, 0.0) for term in part.stems):
                    of_part.append(_times(found, share))
            parts.append(self._sums(of_part))
        others = [self._postings(group) for group in plan.others]
        others += [_times(found, concept.context) for concept, found in concepts if concept.context]
        self._matched = self._sums([*parts, *others])
        # The same documents in the same order.
        self._covered = self._sums([*map(_covered, parts, limits), *map(_nothing, others)]) if len(parts) > 1 else None
        self.names = [self._postings(group) for group in plan.names]
        self._whole = [*(self._postings(group) for group in plan.exact), *self.names]

    def add(self, evidence: Evidence) -> None:
        """Add `evidence` that does not cover a part of the query."""
        found = self._postings(evidence)
        self._matched = self._sums([self._matched, found])
        if self._covered is not None:
            self._covered = self._sums([self._covered, _nothing(found)])

    def totals(self) -> list[Postings]:
        """Return for each segment the matching documents and their scores."""
        return self._sums([self._kept(), *self._whole])

    def shares(self) -> list[Postings]:
        """Return for each segment the documents, and the share of the query that each covers."""
        if self._covered is None:
            return [(doc_ids, np.ones(len(doc_ids), np.float32)) for doc_ids, _ in self._matched]
        return self._covered

    def losses(self) -> list[Postings]:
        """Return for each segment the documents, and what is taken off the score of each."""
        pairs = zip(self._matched, self._kept(), strict=True)
        return [(doc_ids, kept - scores) for (doc_ids, scores), (_, kept) in pairs]

    def _kept(self) -> list[Postings]:
        """Return for each segment the documents, and what each keeps of the sum of its evidence."""
        if self._covered is None:
            return self._matched
        least, loss = np.float32(1 - LOSS), np.float32(LOSS)
        pairs = zip(self._matched, self._covered, strict=True)
        return [(doc_ids, scores * (least + covered * loss)) for (doc_ids, scores), (_, covered) in pairs]

    def _postings(self, evidence: Evidence) -> list[Postings]:
        found = evidence.postings(self._segments)
        if self._trace:
            self._trace(evidence.label, found)
        return found

    def _best(self, part: Part) -> list[Postings]:
        if len(part.groups) == 1:
            return self._postings(part.groups[0])
        every = [group.postings(self._segments) for group in part.groups]
        found = [best([postings[number] for postings in every]) for number in range(len(self._segments))]
        if self._trace:
            self._trace(" or ".join(group.label for group in part.groups), found)
        return found

    def _sums(self, every: Sequence[Sequence[Postings]]) -> list[Postings]:
        return [
            add_up([postings[number] for postings in every], len(segment))
            for number, segment in enumerate(self._segments)
        ]


def covers(plan: Plan) -> list[tuple[np.float32, np.float32]]:
    """Return for each part the score that covers it, and the share of the query that each unit of that score covers.

    A rare word that was typed says more about the topic than several common ones. A word that a concept knows has other
    words for it, and a correction is a guess, so these count by their weight.
    """
    expanded = {stem for concept in plan.concepts for stem in concept.shares}
    rarities = [
        max(part.weight / RARE, 1.0)
        if part.alternatives and not part.is_corrected and part.stems.isdisjoint(expanded)
        else 1.0
        for part in plan.parts
    ]
    limits = [COVERED * part.weight for part in plan.parts]
    total = sum(limit * rarity for limit, rarity in zip(limits, rarities, strict=True))
    return [(np.float32(limit), np.float32(rarity / total)) for limit, rarity in zip(limits, rarities, strict=True)]


def _covered(found: Sequence[Postings], covers: tuple[np.float32, np.float32]) -> list[Postings]:
    limit, share = covers
    return [(doc_ids, np.minimum(scores, limit) * share) for doc_ids, scores in found]


def _nothing(found: Sequence[Postings]) -> list[Postings]:
    return [(doc_ids, np.zeros(len(doc_ids), np.float32)) for doc_ids, _ in found]


def _times(found: Sequence[Postings], factor: float) -> list[Postings]:
    return [(doc_ids, scores * np.float32(factor)) for doc_ids, scores in found]


THRESHOLD_FACTOR, MIN_THRESHOLD = np.float32(0.6), np.float32(1e-3)
"""The threshold is the best score times this factor, repeatedly; below the minimum, all scores are searched."""

FEW = 4_000
"""Scores that are faster to partition at once than to compare with thresholds."""


def top_k(total: Floats, count: int) -> Longs:
    """Return the positions of the `count` greatest scores, and of all others equal to the least of them."""
    if len(total) <= count:
        return np.arange(len(total))
    if len(total) < FEW:
        return _at_least(total, np.arange(len(total)), count)
    threshold = np.float32(total.max(initial=0)) * THRESHOLD_FACTOR
    above = total > threshold
    while threshold > 0 and np.count_nonzero(above) < count:
        # High scores are rare, so a threshold avoids a partition of all scores.
        threshold = threshold * THRESHOLD_FACTOR if threshold > MIN_THRESHOLD else np.float32(0)
        above = total > threshold
    return _at_least(total, np.flatnonzero(above), count)


def _at_least(total: Floats, places: Longs, count: int) -> Longs:
    values = total[places]
    surplus = len(places) - count
    return places[values >= np.partition(values, surplus)[surplus]] if surplus > 0 else places
