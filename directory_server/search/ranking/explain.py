"""Explanation of scores: the evidence of a query, its part in the score of each hit, and the reasons of hits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from ...domain.search import Position
from ..index.arrays import Bools, Ints
from ..index.collection import Collection
from ..index.merging import Postings
from ..index.segment import Segment
from ..query.conditions import factors, rewards
from ..query.groups import TermGroup
from ..query.plan import Plan
from .likeness import RERANKED, reranking
from .scoring import COVERED_SHARE, PINNED_SCORE, Ranked, score_documents, top_documents


def explain_lines(
    plan: Plan,
    collection: Collection,
    live: Sequence[Bools],
    pinned: Sequence[Ints],
    limit: int,
    after: Position | None,
) -> Iterator[str]:
    """Yield lines: the term groups, then each hit with its score and the parts of it."""
    evidence: list[tuple[str, Sequence[Postings]]] = []
    scored = score_documents(plan, collection, live, pinned, lambda label, found: evidence.append((label, found)))
    for group in plan.groups:
        yield _group_line(group, collection)
    best = partial(top_documents, plan, collection.segments, scored)
    before = {(number, doc_id): score for score, number, doc_id in best(RERANKED, None)}
    hits = reranking(plan, collection.segments, best)(limit, after)
    for rank, (score, number, doc_id) in enumerate(hits, 1):
        yield f"{rank:>4}  {score:8.3f}  {collection.segments[number].rows.name(doc_id)}"
        values = [(label, _score(found[number], doc_id)) for label, found in evidence]
        covered = np.array([dict(values).get(COVERED_SHARE, 0.0)], np.float32)
        parts = [(label, value) for label, value in values if label != COVERED_SHARE]
        pin = PINNED_SCORE if doc_id in pinned[number] else 0.0
        facts = collection.segments[number].rows.facts[doc_id : doc_id + 1]
        likeness = score - before.get((number, doc_id), score)
        # The conditions and the prior are factors of the rest.
        without = (score - pin - likeness) / float(factors(plan.conditions, facts, covered)[0])
        parts.append(("prior", without - sum(value for _, value in parts)))
        parts += [
            (f"condition {condition.label}", without * float(rewards(condition, facts, covered)[0]))
            for condition in plan.conditions
        ]
        parts += [("likeness", likeness), ("pinned", pin)]
        yield "      " + "  ".join(f"{label} {value:.3f}" for label, value in parts if abs(value) >= 0.0005)


def _group_line(group: TermGroup, collection: Collection) -> str:
    string = collection.vocabulary.string
    weighted = sorted(group.terms.items(), key=lambda each: -each[1])
    terms = ", ".join(f"{string(term).lstrip(chr(0))} {weight:.2f}" for term, weight in weighted[:8])
    return f"{group.label}: idf {group.idf:.2f}; {terms}{', …' if len(weighted) > 8 else ''}"


def _score(postings: Postings, doc_id: int) -> float:
    doc_ids, values = postings
    return float(values[np.flatnonzero(doc_ids == doc_id)].sum())


MAX_REASONS = 3
"""Conditions in the reason of a hit."""


def reasons(plan: Plan, segments: Sequence[Segment], hits: Sequence[Ranked]) -> Sequence[str]:
    """Return for each of `hits` the conditions that it satisfies, as text; nothing if no hit satisfies any."""
    if not plan.conditions:
        return ()
    facts = np.array([segments[number].rows.facts[doc_id] for _, number, doc_id in hits], np.uint64)
    satisfied = [(condition.label, condition.satisfied_by(facts).tolist()) for condition in plan.conditions]
    texts = [
        ", ".join([label for label, by_hit in satisfied if by_hit[place]][:MAX_REASONS]) for place in range(len(hits))
    ]
    return texts if any(texts) else ()
