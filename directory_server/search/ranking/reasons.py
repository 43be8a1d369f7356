"""The reasons of hits: the conditions of a query that they satisfy."""

from __future__ import annotations

from collections.abc import Sequence

from ..index.arrays import Longs
from ..index.view import View
from ..query.rows import Plan

MAX_REASONS = 3
"""Conditions in the reason of a hit."""


def reasons(plan: Plan, view: View, docs: Longs) -> Sequence[str]:
    """Return for each of `docs` the conditions that it satisfies, as text; nothing if no hit satisfies any."""
    if not plan.conditions:
        return ()
    facts = view.column("facts", docs)
    satisfied = [(condition.label, condition.satisfied_by(facts).tolist()) for condition in plan.conditions]
    texts = [
        ", ".join([label for label, by_doc in satisfied if by_doc[place]][:MAX_REASONS]) for place in range(len(docs))
    ]
    return texts if any(texts) else ()
