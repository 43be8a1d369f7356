"""The reasons of hits: the conditions of a query that they satisfy, and those of which nothing is known."""

from __future__ import annotations

from collections.abc import Sequence

from ..index.arrays import Longs
from ..index.view import View
from ..query.rows import Plan

MAX_REASONS = 3
"""Conditions in the reason of a hit, and in its list of unknown ones."""


def reasons(plan: Plan, view: View, docs: Longs) -> Sequence[str]:
    """Return for each of `docs` as text the conditions that it satisfies, then the unknown ones; nothing without any.

    A model reads a condition that is not named as not satisfied.
    """
    if not plan.conditions:
        return ()
    facts = view.column("facts", docs)
    known = [
        (condition.label, condition.satisfied_by(facts).tolist(), condition.is_unknown(facts).tolist())
        for condition in plan.conditions
    ]
    texts = []
    for place in range(len(docs)):
        satisfied = [label for label, are_satisfied, _ in known if are_satisfied[place]][:MAX_REASONS]
        unknown = [label for label, _, are_unknown in known if are_unknown[place]][:MAX_REASONS]
        texts.append(", ".join([*satisfied, *(f"unknown: {label}" for label in unknown)]))
    return texts if any(texts) else ()
