"""Scoring: add up the evidence of a plan, apply filters, priors and pins, and select the best documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter

import numpy as np

from ...domain.search import Position
from ..index import arrays
from ..index.arrays import Bools, Ints, Longs
from ..index.collection import Collection
from ..index.merging import NO_POSTINGS, Postings, add_up, contains, with_priors
from ..index.segment import Segment
from ..query.conditions import factors
from ..query.plan import Plan
from .compiled import best_scores, compiled_scores
from .coverage import MAX_RAISED, PRIOR_SHARE, Matches, Trace, top_k
from .feedback import feedback, focus

PINNED_SCORE = 4_096.0
"""The score of a pin: greater than any score of words, and small enough for float32 to keep those apart."""

PHRASE_GROWTH = 8
"""Factor by which more documents are searched for phrases while too few match."""

COVERED_SHARE = "share of the query"
"""The label of the share of the query that a document covers, which is no part of its score."""

DENSE = 16
"""Where one document in so many matches, filters use an array of all documents."""


def score_documents(
    plan: Plan, collection: Collection, live: Sequence[Bools], pinned: Sequence[Ints], trace: Trace | None = None
) -> list[Postings]:
    """Return for each segment the matching documents that are `live`, and their scores.

    Matching documents that are `pinned` rank before all others.
    """
    if arrays.engine is not None and trace is None and not plan.filters_only:
        scored = _filtered(compiled_scores(plan, collection, live), plan, collection)
    else:
        scored = _scores(plan, collection, live, trace)
    for number, pins in enumerate(pinned):
        if len(pins):
            doc_ids, scores = scored[number]
            scored[number] = doc_ids, scores + np.float32(PINNED_SCORE) * np.isin(doc_ids, pins).astype(np.float32)
    return scored


def _scores(plan: Plan, collection: Collection, live: Sequence[Bools], trace: Trace | None) -> list[Postings]:
    """Return what `compiled_scores` returns, with filters applied, without the engine."""
    matches = Matches(plan, collection.segments, trace)
    totals = [_all_documents(segment) for segment in collection.segments] if plan.filters_only else matches.totals()
    shares = matches.shares()
    scored = _apply_priors(totals, shares, plan, collection, live)
    if plan.allows_feedback and (expansion := feedback(scored, collection, matches.names)):
        matches.add(expansion)
        shares = matches.shares()
        scored = _apply_priors(matches.totals(), shares, plan, collection, live)
    if trace:
        trace("coverage", matches.losses())
        trace(COVERED_SHARE, shares)
    if plan.allows_focus:
        raised = focus(scored, plan, collection)
        triples = zip(scored, raised, collection.segments, strict=True)
        scored = [add_up([before, more], len(segment)) for before, more, segment in triples]
        if trace:
            trace("focus", raised)
    return _filtered(scored, plan, collection)


def _all_documents(segment: Segment) -> Postings:
    # A match needs a score above 0, also without words.
    return np.arange(len(segment), dtype=np.int32), np.ones(len(segment), np.float32)


def _apply_priors(
    totals: Sequence[Postings],
    shares: Sequence[Postings],
    plan: Plan,
    collection: Collection,
    live: Sequence[Bools],
) -> list[Postings]:
    """Return `totals` of the matching documents with their priors and conditions.

    `shares` has the share of the query that each document covers.
    """
    scored = []
    for postings, covered, segment, is_live in zip(totals, shares, collection.segments, live, strict=True):
        doc_ids, scores = with_priors(postings, is_live, segment.priors, PRIOR_SHARE, MAX_RAISED * plan.query_weight)
        if plan.conditions:
            topic = np.zeros(len(segment), np.float32)
            topic[covered[0]] = covered[1]
            scores = scores * factors(plan.conditions, segment.rows.facts[doc_ids], topic[doc_ids])
        scored.append((doc_ids, scores))
    return scored


def _filtered(scored: list[Postings], plan: Plan, collection: Collection) -> list[Postings]:
    """Return those of `scored` that match the filters and exclusions."""
    if not plan.has_filters:
        return scored
    found = []
    for (doc_ids, scores), segment in zip(scored, collection.segments, strict=True):
        matches = _matches_filters(plan, segment, doc_ids)
        found.append((doc_ids[matches], scores[matches]))
    return found


def _matches_filters(plan: Plan, segment: Segment, doc_ids: Ints) -> Bools:
    """Return which of `doc_ids` match the filters and exclusions. Phrases are checked later."""
    lists, matches = segment.lists, np.ones(len(doc_ids), bool)
    for terms in plan.required:
        having = np.zeros(len(doc_ids), bool)
        for term in terms:
            having |= _has_term(lists.documents_with(term), doc_ids, len(segment))
        matches &= having
    for term in plan.excluded:
        matches &= ~_has_term(lists.documents_with(term), doc_ids, len(segment))
    return matches


Ranked = tuple[float, int, int]
"""The score, the segment number and the document number of a hit."""

Best = Callable[[int, Position | None], list[Ranked]]
"""Returns at most so many documents after a position, by descending score and then by name."""


def _has_term(with_term: Ints, doc_ids: Ints, documents: int) -> Bools:
    if DENSE * len(doc_ids) < documents:
        return contains(with_term, doc_ids)
    has_term = np.zeros(documents, bool)
    has_term[with_term] = True
    return has_term[doc_ids]


def ranked_documents(
    plan: Plan,
    collection: Collection,
    live: Sequence[Bools],
    pinned: Sequence[Ints],
    limit: int,
    after: Position | None,
) -> list[Ranked]:
    """Return at most `limit` documents after `after` that match a plan, by descending score and then by name."""
    if arrays.engine is None or plan.filters_only or plan.has_filters or any(map(len, pinned)):
        scored = score_documents(plan, collection, live, pinned)
        return top_documents(plan, collection.segments, scored, limit, after)
    below = np.float32(np.inf if after is None else after.score)
    return ordered(best_scores(plan, collection, live, limit, float(below)), collection.segments, after)[:limit]


def top_documents(
    plan: Plan, segments: Sequence[Segment], scored: Sequence[Postings], limit: int, after: Position | None
) -> list[Ranked]:
    """Return at most `limit` of `scored` after `after` that have all phrases, by descending score and then by name."""
    numbers = np.repeat(np.arange(len(scored)), [len(doc_ids) for doc_ids, _ in scored])
    doc_ids = np.concatenate([NO_POSTINGS[0], *(doc_ids for doc_ids, _ in scored)])
    scores = np.concatenate([NO_POSTINGS[1], *(scores for _, scores in scored)])
    wanted = limit
    if after is not None:
        behind = np.flatnonzero(scores <= np.float32(after.score))
        numbers, doc_ids, scores = numbers[behind], doc_ids[behind], scores[behind]
        # All documents with the score of `after` may come before it.
        wanted += int(np.count_nonzero(scores == np.float32(after.score)))
    # Phrases are checked from the best document on, until enough match.
    depth = wanted
    while True:
        chosen = top_k(scores, depth)
        having = chosen
        if plan.phrases:
            having = chosen[_having(numbers[chosen], doc_ids[chosen], plan.phrases, segments)]
        columns = scores[having].tolist(), numbers[having].tolist(), doc_ids[having].tolist()
        found = ordered(zip(*columns, strict=True), segments, after)
        if not plan.phrases or len(found) >= wanted or len(chosen) < depth:
            return found[:limit]
        depth *= PHRASE_GROWTH


def _by_name(hits: Iterable[Ranked], segments: Sequence[Segment]) -> list[Ranked]:
    return sorted(hits, key=lambda hit: segments[hit[1]].rows.name(hit[2]))


def _having(numbers: Longs, doc_ids: Ints, phrases: Sequence[str], segments: Sequence[Segment]) -> Bools:
    """Return which documents, given by the number of their segment and their number in it, have all `phrases`."""
    found = np.zeros(len(doc_ids), bool)
    for number, segment in enumerate(segments):
        places = np.flatnonzero(numbers == number)
        found[places] = segment.rows.having(doc_ids[places], phrases)
    return found


def ordered(hits: Iterable[Ranked], segments: Sequence[Segment], after: Position | None) -> list[Ranked]:
    """Return the hits after `after` in their order."""
    found = sorted(hits, key=itemgetter(0), reverse=True)
    # Names are read only where scores are equal.
    start, previous = 0, None
    for place, (score, _, _) in enumerate(found):
        if score != previous:
            if place - start > 1:
                found[start:place] = _by_name(found[start:place], segments)
            start, previous = place, score
    if len(found) - start > 1:
        found[start:] = _by_name(found[start:], segments)
    if after is not None:
        score, name = after.score, after.name
        found = [hit for hit in found if hit[0] < score or segments[hit[1]].rows.name(hit[2]) > name]
    return found
