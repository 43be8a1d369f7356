"""Explanation of scores: the rows of a plan, and what each hit has of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from directory_server.domain.search import Query
from directory_server.search import ImpactIndex
from directory_server.search.index.view import View
from directory_server.search.query.condensing import MAX_LENGTH, parse_long
from directory_server.search.query.parsing import parse
from directory_server.search.query.plan import build_plan
from directory_server.search.query.rows import Plan, Row
from directory_server.search.ranking.ranking import Ranking
from directory_server.search.ranking.scoring import rank

SHOWN = 8
"""Rows in the line of a word, a concept or a name: those of the greatest weight."""

Part = tuple[str, np.ndarray]
"""A label, and a number for each candidate."""


def explain(index: ImpactIndex, query: Query) -> str:
    """Return an explanation of the ranking of the hits for `query`, as text."""
    return "\n".join(explain_lines(index, query))


def explain_lines(index: ImpactIndex, query: Query) -> Iterator[str]:
    """Yield lines: the groups of rows, then each hit with its score and what it has of the groups.

    The numbers of words, concepts and names are added. The share of the query, the prior, conditions, and the cosine
    of the meanings change the sum.
    """
    view = index.snapshot.view(query.scope)
    plan = _plan(query, view)
    if plan.searched_for:
        yield f"searched for: {plan.searched_for}"
    for label, rows in _groups(plan):
        yield _group_line(label, rows)
    if plan.avoided:
        yield f"avoided: {', '.join(plan.avoided)}"
    ranking = rank(plan, view)
    parts = [*_parts(ranking)]
    cosines = dict(zip(ranking.docs.tolist(), ranking.cosines.tolist(), strict=False))
    docs, scores = ranking.page(query.limit, query.after)
    for place, (doc, score) in enumerate(zip(docs.tolist(), scores.tolist(), strict=True), 1):
        yield f"{place:>4}  {score:8.3f}  {view.name(doc)}"
        columns = np.flatnonzero(ranking.candidates == doc)
        values = [(label, float(numbers[column])) for label, numbers in parts for column in columns]
        values += [("cosine", cosines.get(doc, 0.0)), ("pinned", float(np.isin(doc, view.pinned)))]
        yield "      " + "  ".join(f"{label} {value:.3f}" for label, value in values if abs(value) >= 0.0005)


def _plan(query: Query, view: View) -> Plan:
    """Return the plan by which the index searches."""
    if len(query.keywords) <= MAX_LENGTH:
        return build_plan(parse(query.keywords), view, query.likeness)
    parsed, beside, searched = parse_long(query.keywords, view)
    return build_plan(parsed, view, query.likeness, beside, searched)


def _groups(plan: Plan) -> Iterator[tuple[str, Sequence[Row]]]:
    """Yield the label and the rows of each group of a plan, in the order of the groups."""
    yield from ((word.text, word.rows) for word in plan.words)
    yield from ((f"concept {concept.name}", concept.rows) for concept in plan.concepts)
    yield from ((f"name {rows[0][0].strip(chr(0))}", rows) for rows in plan.names)


def _group_line(label: str, rows: Sequence[Row]) -> str:
    heaviest = sorted(rows, key=lambda row: -row[2] * row[3])
    terms = (
        f"{' & '.join(dict.fromkeys(row[:2])).replace(chr(0), '')} {row[2]:.2f} × {row[3]:.2f}" for row in heaviest
    )
    return f"{label}: {', '.join([*terms][:SHOWN])}{', …' if len(rows) > SHOWN else ''}"


def _parts(ranking: Ranking) -> Iterator[Part]:
    """Yield what the candidates of a ranking have of each group, of the conditions, and of the prior."""
    plan, docs = ranking.plan, ranking.candidates
    factors = [word.weight for word in plan.words] + [1.0] * (len(plan.concepts) + len(plan.names))
    shares = {f"concept {concept.name}": sum(concept.shares.values()) for concept in plan.concepts}
    spans = zip(ranking.bounds, ranking.bounds[1:], strict=False)
    for (label, rows), factor, (first, last) in zip(_groups(plan), factors, spans, strict=True):
        weights = np.array([row[2] * row[3] for row in rows])[:, None]
        scored = ranking.matrix[first:last] * weights * factor
        if label in shares:
            # Of all rows together, relative to the best document.
            total = scored.sum(axis=0)
            yield label, shares[label] * np.sqrt(total / max(float(total.max(initial=0)), 1e-9))
        else:
            yield label, scored.max(axis=0, initial=0)
    facts = ranking.view.column("facts", docs)
    yield from ((f"condition {of.label}", of.rewards(facts, np.ones(len(docs)))) for of in plan.conditions)
    yield "prior", ranking.view.column("priors", docs)
