"""Nomination: claims of publishers propose entries for the empty places of a weak match.

What a claim says, and how often, moves no entry that matches by its own text: nominated entries come last, in places
that no match has. The text of each is like the query.
"""

from __future__ import annotations

import numpy as np
from attrs import evolve

from ..index.claims import CLAIM, LEAST_LIKENESS
from ..index.view import View
from ..query.rows import Plan, Word
from ..text import stem
from .likeness import projections
from .ranking import Ranking
from .scoring import rank
from .strength import KEPT

NOMINATED = 50
"""Entries that claims may propose: those whose claims have most of the query."""


def with_nominees(ranking: Ranking) -> Ranking:
    """Return the first KEPT hits of a weak ranking, and in free places entries whose claims have words of its plan.

    The most like the query come first. The text of each has a cosine of at least LEAST_LIKENESS with the query.
    """
    first, plan, view = ranking.first(KEPT), ranking.plan, ranking.view
    if len(first.docs) >= KEPT or plan.vector is None:
        return first
    docs, _ = rank(_claims_plan(plan, view), view, pins=False).page(NOMINATED, None)
    docs = docs[~np.isin(docs, first.docs)]
    if not len(docs):
        return first
    query = np.frombuffer(plan.vector, np.int8).astype(np.float64)
    cosines = projections(plan.vector, view, docs) / max(float(np.linalg.norm(query)), 1.0)
    order = np.argsort(-cosines, kind="stable")
    docs = docs[order[cosines[order] >= LEAST_LIKENESS]][: KEPT - len(first.docs)]
    least = float(first.scores.min(initial=1.0))
    return evolve(
        first,
        matched=np.sort(np.concatenate([first.matched, docs])),
        docs=np.concatenate([first.docs, docs]),
        scores=np.concatenate([first.scores, np.full(len(docs), least)]),
    )


def _claims_plan(plan: Plan, view: View) -> Plan:
    terms = {word.text: CLAIM + row[0] for word in plan.words for row in word.rows[:1] if row[0] == row[1]}
    terms |= {word: CLAIM + stem(word) for word in plan.parsed.spaced if word not in terms}
    counts = view.frequencies([*terms.values()])
    words = [
        Word(text, view.idf(count), [(term, term, 1.0, view.idf(count))])
        for (text, term), count in zip(terms.items(), counts, strict=True)
        if count
    ]
    return Plan(plan.parsed, words, conditions=plan.conditions, weight=plan.weight)
