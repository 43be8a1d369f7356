"""What documents score for a query, and which come first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..model import Place
from ._collection import Collection
from ._document import Row
from ._feedback import feedback
from ._leading import leading
from ._plan import Evidence, Plan
from ._segment import Bools, Floats, Segment
from ._terms import Postings

PRIOR = 1.0
"""What its prior scores, as a share of what all words that were typed are worth."""

Note = Callable[[str, Sequence[Postings]], None]
"""Is told of each piece of evidence what it is and what it scores, in the documents of each segment."""


def scores(plan: Plan, among: Collection, living: Sequence[Bools], note: Note | None = None) -> list[Floats]:
    """Return for each segment the score of each of its documents; 0 for those that are not found, or not `living`."""
    totals = [np.zeros(len(segment), np.float32) for segment in among.segments]

    def add(evidence: Evidence) -> list[Postings]:
        found = evidence.found(among.segments)
        for total, (holders, values) in zip(totals, found, strict=True):
            total[holders] += values
        if note:
            note(evidence.typed, found)
        return found

    for each in plan.evidence:
        add(each)
    names = [add(each) for each in plan.names]
    settled = _settled(totals, plan, among, living)
    if plan.open and (like := feedback(settled, among, names)):
        add(like)
        settled = _settled(totals, plan, among, living)
    return settled


def _settled(totals: Sequence[Floats], plan: Plan, among: Collection, living: Sequence[Bools]) -> list[Floats]:
    """Return `totals` with the priors of what is found, and 0 for what is not."""
    settled = []
    for total, segment, alive in zip(totals, among.segments, living, strict=True):
        # A score tells that something is found, so where there are only filters it must not be 0.
        score = total + np.float32(1) if plan.everything else total
        found = (score > 0) & alive
        if plan.filters:
            found &= _let_pass(plan, segment, found)
        settled.append((score + np.float32(PRIOR * plan.worth) * segment.priors) * found)
    return settled


def _let_pass(plan: Plan, segment: Segment, found: Bools) -> Bools:
    """Return which documents pass the filters; phrases are only looked for in those `found`."""
    passing = np.ones(len(segment), bool)
    for term in plan.required:
        having = np.zeros(len(segment), bool)
        if term is not None:
            having[segment.postings(term)[0]] = True
        passing &= having
    for term in plan.excluded:
        passing[segment.postings(term)[0]] = False
    if plan.phrases:
        numbers = np.flatnonzero(passing & found).tolist()
        for phrase in plan.phrases:
            numbers = [number for number in numbers if phrase in segment.rows[number].phrases]
        passing = np.zeros(len(segment), bool)
        passing[numbers] = True
    return passing


def best(scored: Sequence[tuple[Segment, Floats]], limit: int, after: Place | None) -> list[tuple[float, Row]]:
    """Return at most `limit` documents behind `after`, by score downwards and then by name."""
    candidates: list[tuple[float, str, Row]] = []
    for segment, total in scored:
        behind, wanted = total, limit
        if after is not None:
            behind = total * (total <= after.score)
            # Those that score as the last one seen may all stand before it.
            wanted += int(np.count_nonzero(behind == np.float32(after.score)))
        chosen = leading(behind, wanted)
        for number, value in zip(chosen.tolist(), total[chosen].tolist(), strict=True):
            row = segment.rows[number]
            if after is None or (-value, row.name) > (-after.score, after.name):
                candidates.append((-value, row.name, row))
    candidates.sort(key=lambda candidate: candidate[:2])
    return [(-negated, row) for negated, _, row in candidates[:limit]]
