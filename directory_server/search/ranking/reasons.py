"""The reasons of hits: the conditions of a query that they satisfy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..index.segment import Segment
from ..query.plan import Plan
from .scoring import Ranked

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
