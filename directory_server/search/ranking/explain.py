"""Why the hits for a query rank where they do, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...domain.search import Position
from ..index.collection import Collection
from ..index.segment import Bools
from ..index.vocabulary import Ints
from ..query.plan import Plan
from ..query.terms import Group, Postings
from .scoring import PINNED, best, scores


def explained(
    plan: Plan,
    among: Collection,
    living: Sequence[Bools],
    pinned: Sequence[Ints],
    limit: int,
    after: Position | None,
) -> Iterator[str]:
    """Yield lines: what was looked for, then each hit with its score and what gave how much of it."""
    gave: list[tuple[str, Sequence[Postings]]] = []
    totals = scores(plan, among, living, pinned, lambda typed, found: gave.append((typed, found)))
    for each in (*plan.evidence, *plan.names):
        if isinstance(each, Group):
            yield _looked_for(each, among)
    scored = list(zip(among.segments, totals, strict=True))
    for rank, (score, row) in enumerate(best(plan, scored, limit, after), 1):
        yield f"{rank:>4}  {score:8.3f}  {row.name}"
        number, document = next(
            (number, segment.rows.index(row)) for number, segment in enumerate(among.segments) if row in segment.rows
        )
        parts = [(typed, _score(found[number], document)) for typed, found in gave]
        if document in pinned[number]:
            parts.append(("pinned", PINNED))
        parts.append(("prior", score - sum(value for _, value in parts)))
        yield "      " + "  ".join(f"{typed} {value:.3f}" for typed, value in parts if abs(value) >= 0.0005)


def _looked_for(group: Group, among: Collection) -> str:
    weighed = sorted(group.terms.items(), key=lambda each: -each[1])
    terms = ", ".join(f"{among.vocabulary.terms[term].lstrip(chr(0))} {weight:.2f}" for term, weight in weighed[:8])
    return f"{group.typed}: worth {group.rarity:.2f}; {terms}{', …' if len(weighed) > 8 else ''}"


def _score(found: Postings, document: int) -> float:
    holders, values = found
    return float(values[np.flatnonzero(holders == document)].sum())
