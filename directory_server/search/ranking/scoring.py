"""Scoring: add up the evidence of a plan, apply filters, priors and pins, and select the best documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...domain.search import Position
from ..index.collection import Collection
from ..index.document import Row
from ..index.segment import Bools, Floats, Segment
from ..index.vocabulary import Ints
from ..query.plan import Evidence, Plan
from ..query.terms import Postings
from .feedback import feedback
from .top_k import top_k

PRIOR_SHARE = 1.0
"""The score of a prior of 1, as a share of the query weight."""

PINNED_SCORE = 4_096.0
"""The score of a pin: greater than any score of words, and small enough for float32 to keep those apart."""

PHRASE_GROWTH = 8
"""Factor by which more documents are searched for phrases while too few match."""

_NO_IDS, _NO_SCORES = np.empty(0, np.int32), np.empty(0, np.float32)

Trace = Callable[[str, Sequence[Postings]], None]
"""Receives the label of each piece of evidence, and its postings in each segment."""


def score_documents(
    plan: Plan, collection: Collection, live: Sequence[Bools], pinned: Sequence[Ints], trace: Trace | None = None
) -> list[Floats]:
    """Return for each segment the scores of its documents; 0 for those that do not match or are not `live`.

    Matching documents that are `pinned` rank before all others.
    """

    def postings(evidence: Evidence) -> list[Postings]:
        found = evidence.postings(collection.segments)
        if trace:
            trace(evidence.label, found)
        return found

    names = [postings(each) for each in plan.names]
    totals = _accumulate([*(postings(each) for each in plan.evidence), *names], collection)
    scores = _apply_priors(totals, plan, collection, live)
    if plan.allows_feedback and (expansion := feedback(scores, collection, names)):
        added = _accumulate([postings(expansion)], collection)
        totals = [total + more for total, more in zip(totals, added, strict=True)]
        scores = _apply_priors(totals, plan, collection, live)
    for total, doc_ids in zip(scores, pinned, strict=True):
        total[doc_ids] += np.float32(PINNED_SCORE) * (total[doc_ids] > 0)
    return scores


def _accumulate(every: Sequence[Sequence[Postings]], collection: Collection) -> list[Floats]:
    """Return for each segment the sum of the scores of each of its documents."""
    totals = []
    for number, segment in enumerate(collection.segments):
        postings = [each[number] for each in every]
        doc_ids = np.concatenate([_NO_IDS, *(doc_ids for doc_ids, _ in postings)])
        values = np.concatenate([_NO_SCORES, *(values for _, values in postings)])
        totals.append(np.bincount(doc_ids, values, len(segment)).astype(np.float32))
    return totals


def _apply_priors(totals: Sequence[Floats], plan: Plan, collection: Collection, live: Sequence[Bools]) -> list[Floats]:
    """Return `totals` with the priors of the matching documents, and 0 for all others."""
    scores = []
    for total, segment, is_live in zip(totals, collection.segments, live, strict=True):
        # A match needs a score above 0, also without words.
        score = total + np.float32(1) if plan.filters_only else total
        matches = (score > 0) & is_live
        if plan.has_filters:
            matches &= _matches_filters(plan, segment)
        scores.append((score + np.float32(PRIOR_SHARE * plan.query_weight) * segment.priors) * matches)
    return scores


def _matches_filters(plan: Plan, segment: Segment) -> Bools:
    """Return which documents match the filters and exclusions. Phrases are checked later."""
    matches = np.ones(len(segment), bool)
    for term in plan.required:
        has_term = np.zeros(len(segment), bool)
        if term is not None:
            has_term[segment.postings(term)[0]] = True
        matches &= has_term
    for term in plan.excluded:
        matches[segment.postings(term)[0]] = False
    return matches


def top_documents(
    plan: Plan, scored: Sequence[tuple[Segment, Floats]], limit: int, after: Position | None
) -> list[tuple[float, Row]]:
    """Return at most `limit` documents after `after` that have all phrases, by descending score and then by name."""
    candidates: list[tuple[float, str, Row]] = []
    for segment, total in scored:
        remaining, wanted = total, limit
        if after is not None:
            remaining = total * (total <= after.score)
            # All documents with the score of `after` may come before it.
            wanted += int(np.count_nonzero(remaining == np.float32(after.score)))
        candidates += _top_candidates(plan, segment, remaining, wanted, after)
    candidates.sort(key=lambda candidate: candidate[:2])
    return [(-negated, row) for negated, _, row in candidates[:limit]]


def _top_candidates(
    plan: Plan, segment: Segment, total: Floats, wanted: int, after: Position | None
) -> list[tuple[float, str, Row]]:
    # Phrases are checked from the best document on, until enough match.
    depth = wanted
    while True:
        chosen = top_k(total, depth)
        found = [
            (-value, row.name, row)
            for value, row in zip(total[chosen].tolist(), map(segment.rows.__getitem__, chosen.tolist()), strict=True)
            if (after is None or (-value, row.name) > (-after.score, after.name))
            and (not plan.phrases or all(phrase in row.phrases for phrase in plan.phrases))
        ]
        if not plan.phrases or len(found) >= wanted or len(chosen) < depth:
            return found
        depth *= PHRASE_GROWTH
