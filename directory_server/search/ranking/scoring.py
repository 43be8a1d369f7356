"""What documents score for a query, and which come first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...domain.search import Position
from ..index.collection import Collection
from ..index.document import Row
from ..index.segment import Bools, Floats, Segment
from ..index.vocabulary import Ints
from ..query.plan import Evidence, Plan
from ..query.terms import Postings
from .feedback import feedback
from .top_k import top_k

PRIOR = 1.0
"""What its prior scores, as a share of what all words that were typed are worth."""

PINNED = 4_096.0
"""What being pinned scores: more than any words do, and little enough for a float32 to tell the words apart still."""

MORE = 8
"""How many times as many documents are looked through for phrases where too few hold them."""

_NONE, _NOTHING = np.empty(0, np.int32), np.empty(0, np.float32)

Note = Callable[[str, Sequence[Postings]], None]
"""Is told of each piece of evidence what it is and what it scores, in the documents of each segment."""


def scores(
    plan: Plan, among: Collection, living: Sequence[Bools], pinned: Sequence[Ints], note: Note | None = None
) -> list[Floats]:
    """Return for each segment the score of each of its documents; 0 for those that are not found, or not `living`.

    Those that are `pinned` stand before all others of those that are found.
    """

    def gathered(evidence: Evidence) -> list[Postings]:
        found = evidence.found(among.segments)
        if note:
            note(evidence.typed, found)
        return found

    names = [gathered(each) for each in plan.names]
    totals = _added([*(gathered(each) for each in plan.evidence), *names], among)
    settled = _settled(totals, plan, among, living)
    if plan.open and (like := feedback(settled, among, names)):
        totals = [total + more for total, more in zip(totals, _added([gathered(like)], among), strict=True)]
        settled = _settled(totals, plan, among, living)
    for total, documents in zip(settled, pinned, strict=True):
        total[documents] += np.float32(PINNED) * (total[documents] > 0)
    return settled


def _added(found: Sequence[Sequence[Postings]], among: Collection) -> list[Floats]:
    """Return for each segment what each of its documents scores in all that was `found`."""
    totals = []
    for number, segment in enumerate(among.segments):
        postings = [each[number] for each in found]
        holders = np.concatenate([_NONE, *(holders for holders, _ in postings)])
        values = np.concatenate([_NOTHING, *(values for _, values in postings)])
        totals.append(np.bincount(holders, values, len(segment)).astype(np.float32))
    return totals


def _settled(totals: Sequence[Floats], plan: Plan, among: Collection, living: Sequence[Bools]) -> list[Floats]:
    """Return `totals` with the priors of what is found, and 0 for what is not."""
    settled = []
    for total, segment, alive in zip(totals, among.segments, living, strict=True):
        # A score tells that something is found, so where there are only filters it must not be 0.
        score = total + np.float32(1) if plan.everything else total
        found = (score > 0) & alive
        if plan.filters:
            found &= _let_pass(plan, segment)
        settled.append((score + np.float32(PRIOR * plan.worth) * segment.priors) * found)
    return settled


def _let_pass(plan: Plan, segment: Segment) -> Bools:
    """Return which documents pass the filters, phrases apart."""
    passing = np.ones(len(segment), bool)
    for term in plan.required:
        having = np.zeros(len(segment), bool)
        if term is not None:
            having[segment.postings(term)[0]] = True
        passing &= having
    for term in plan.excluded:
        passing[segment.postings(term)[0]] = False
    return passing


def best(
    plan: Plan, scored: Sequence[tuple[Segment, Floats]], limit: int, after: Position | None
) -> list[tuple[float, Row]]:
    """Return at most `limit` documents behind `after` that hold all phrases, by score downwards and then by name."""
    candidates: list[tuple[float, str, Row]] = []
    for segment, total in scored:
        behind, wanted = total, limit
        if after is not None:
            behind = total * (total <= after.score)
            # Those that score as the last one seen may all stand before it.
            wanted += int(np.count_nonzero(behind == np.float32(after.score)))
        candidates += _leading(plan, segment, behind, wanted, after)
    candidates.sort(key=lambda candidate: candidate[:2])
    return [(-negated, row) for negated, _, row in candidates[:limit]]


def _leading(
    plan: Plan, segment: Segment, total: Floats, wanted: int, after: Position | None
) -> list[tuple[float, str, Row]]:
    # Phrases are looked for from the best document on, until enough hold them.
    looked = wanted
    while True:
        chosen = top_k(total, looked)
        found = [
            (-value, row.name, row)
            for value, row in zip(total[chosen].tolist(), map(segment.rows.__getitem__, chosen.tolist()), strict=True)
            if (after is None or (-value, row.name) > (-after.score, after.name))
            and (not plan.phrases or all(phrase in row.phrases for phrase in plan.phrases))
        ]
        if not plan.phrases or len(found) >= wanted or len(chosen) < looked:
            return found
        looked *= MORE
