"""Explanation of scores: the evidence of a query, and its part in the score of each hit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from directory_server.domain.search import Query
from directory_server.search import ImpactIndex
from directory_server.search.index.collection import Collection
from directory_server.search.index.merging import Postings
from directory_server.search.query.conditions import factors, rewards
from directory_server.search.query.cost import condensed
from directory_server.search.query.groups import TermGroup
from directory_server.search.query.parsing import parse
from directory_server.search.query.plan import build_plan
from directory_server.search.ranking.likeness import RERANKED, reranking
from directory_server.search.ranking.scoring import COVERED_SHARE, PINNED_SCORE, score_documents, top_documents


def explain(index: ImpactIndex, query: Query) -> str:
    """Return an explanation of the ranking of the hits for `query`, as text."""
    return "\n".join(explain_lines(index, query))


def explain_lines(index: ImpactIndex, query: Query) -> Iterator[str]:
    """Yield lines: the term groups, then each hit with its score and the parts of it."""
    collection, live = index.snapshot.collection, index.snapshot.live(query.scope)
    pinned = [part.pinned for part in index.snapshot.parts]
    plan = build_plan(parse(condensed(query.keywords, collection)), collection)
    evidence: list[tuple[str, Sequence[Postings]]] = []
    scored = score_documents(plan, collection, live, pinned, lambda label, found: evidence.append((label, found)))
    for group in plan.groups:
        yield _group_line(group, collection)
    best = partial(top_documents, plan, collection.segments, scored)
    before = {(number, doc_id): score for score, number, doc_id in best(RERANKED, None)}
    hits = reranking(plan, collection.segments, best)(query.limit, query.after)
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
