"""What documents score for a query, and which come first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen

from ..model import Place
from ._collection import Collection
from ._document import Row
from ._names import begun, called, nearly_called
from ._needs import Need, needs
from ._query import Typed
from ._segment import Bools, Floats, Segment
from ._terms import Group, groups, relaxed

PRIOR = 1.0
"""What its prior scores, as a share of what all words that were typed are worth."""


@frozen
class Plan:
    """How documents are scored for one query."""

    groups: Sequence[Group]
    needs: Sequence[Need]
    worth: float
    required: Sequence[int | None]
    excluded: Sequence[int]
    phrases: Sequence[str]
    everything: bool

    @property
    def filters(self) -> bool:
        """Tell whether anything but the score decides what is found."""
        return bool(self.required or self.excluded or self.phrases)


def plan(typed: Typed, among: Collection) -> Plan:
    """Return how to score documents for what was typed."""
    literal = groups(typed, among)
    worth = max(sum(group.rarity for group in literal), 1.0)
    names = called(typed, among, worth)
    # Who types a name has said what is needed.
    naming = 1.0 if names else _naming(literal, among)
    needed = needs(typed, among, worth * (1 - naming))
    found = [*literal, *names, *begun(typed, among, worth)]
    if not names:
        found += nearly_called(typed, among, worth)
    if not found and not needed:
        found = relaxed(typed, among)
    find = among.vocabulary.find
    return Plan(
        found,
        needed,
        worth,
        [find(term) for term in typed.required],
        [term for word in typed.excluded if (term := find(word)) is not None],
        typed.phrases,
        everything=typed.filters and not typed.words,
    )


def _naming(literal: Sequence[Group], among: Collection) -> float:
    terms = [term for group in literal for term in group.terms]
    return among.naming(terms, [weight for group in literal for weight in group.terms.values()])


def scores(plan: Plan, segments: Sequence[Segment]) -> list[Floats]:
    """Return for each of `segments` the score of each of its documents; 0 for those that are not found."""
    totals = [np.zeros(len(segment), np.float32) for segment in segments]
    for each in (*plan.groups, *plan.needs):
        for total, (holders, values) in zip(totals, each.evidence(segments), strict=True):
            total[holders] += values
    for total, segment in zip(totals, segments, strict=True):
        if plan.everything:
            # A score tells that something is found, so it must not be 0.
            total += np.float32(1)
        if plan.filters:
            total[~_let_pass(plan, segment, total > 0)] = 0
        total += np.float32(PRIOR * plan.worth) * segment.priors * (total > 0)
    return totals


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
        for number in np.flatnonzero(passing & found).tolist():
            text = segment.rows[number].phrases
            passing[number] = all(phrase in text for phrase in plan.phrases)
    return passing


def best(scored: Sequence[tuple[Segment, Floats]], limit: int, after: Place | None) -> list[tuple[float, Row]]:
    """Return at most `limit` documents behind `after`, by score downwards and then by name."""
    candidates: list[tuple[float, str, Row]] = []
    for segment, total in scored:
        eligible = np.flatnonzero((total > 0) & (total <= after.score) if after else total > 0)
        values = total[eligible]
        surplus = len(eligible) - limit
        if after is not None:
            # Those that score as the last one seen may all stand before it.
            surplus -= int(np.count_nonzero(values == np.float32(after.score)))
        if surplus > 0:
            threshold = np.partition(values, surplus)[surplus]
            chosen = values >= threshold
            eligible, values = eligible[chosen], values[chosen]
        rows = segment.rows
        for number, value in zip(eligible.tolist(), values.tolist(), strict=True):
            row = rows[number]
            if after is None or (-value, row.name) > (-after.score, after.name):
                candidates.append((-value, row.name, row))
    candidates.sort(key=lambda candidate: candidate[:2])
    return [(-negated, row) for negated, _, row in candidates[:limit]]
