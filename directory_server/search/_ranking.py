"""What documents score for a query, and which come first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen

from ..model import Place
from ._analysis import COMMON_PARTS, key
from ._document import BARE_NAME, FULL_NAME, SHORT_NAME, SPELT, Row, phrase
from ._query import Typed
from ._segment import Bools, Floats, Segment
from ._terms import Collection, Group, completions, groups

CALLED_SO = {FULL_NAME: 3.0, SHORT_NAME: 1.2, BARE_NAME: 0.6, SPELT: 0.6}
"""What an entry scores for being called what was typed, as a share of what all words together are worth."""

BEGINS_SO = 0.4
"""What its name scores that begins with what was typed, as such a share."""

BEGINNING = 2
"""Letters from which what was typed may be the beginning of a name."""

PRIOR = 1.0
"""What its prior scores, as such a share."""


@frozen
class Plan:
    """How documents are scored for one query."""

    groups: Sequence[Group]
    names: Sequence[tuple[int, float]]
    worth: float
    required: Sequence[int | None]
    excluded: Sequence[int]
    phrases: Sequence[str]
    everything: bool


def plan(typed: Typed, among: Collection) -> Plan:
    """Return how to score documents for what was typed."""
    found = groups(typed, among)
    worth = max(sum(group.rarity for group in found if group.literal), 1.0)
    find = among.vocabulary.find
    called = {
        FULL_NAME: key(typed.words),
        SHORT_NAME: key(typed.words),
        BARE_NAME: key(typed.words, without=COMMON_PARTS),
        SPELT: phrase(typed.text),
    }
    names = [(kind + name, CALLED_SO[kind]) for kind, name in called.items() if name]
    names += [(name, BEGINS_SO) for name in _begun(typed, among)]
    return Plan(
        found,
        [(term, worth * share) for name, share in names if (term := find(name)) is not None],
        worth,
        [find(term) for term in typed.required],
        [term for word in typed.excluded if (term := find(word)) is not None],
        typed.phrases,
        everything=typed.filters and not typed.words,
    )


def _begun(typed: Typed, among: Collection) -> list[str]:
    beginning = key(typed.words)
    if typed.ends or len(beginning) < BEGINNING:
        return []
    return list(completions(SHORT_NAME + beginning, among))


def scores(plan: Plan, segment: Segment) -> Floats:
    """Return the score of each document of a segment; 0 for those that are not found."""
    total = np.zeros(len(segment), np.float32)
    for group in plan.groups:
        if len(group.terms) == 1:
            ((term, weight),) = group.terms.items()
            holders, impacts = segment.postings(term)
            total[holders] += np.float32(group.rarity * weight) * impacts
            continue
        best = np.zeros(len(segment), np.float32)
        for term, weight in group.terms.items():
            holders, impacts = segment.postings(term)
            best[holders] = np.maximum(best[holders], np.float32(weight) * impacts)
        total += np.float32(group.rarity) * best
    for term, worth in plan.names:
        total[segment.postings(term)[0]] += np.float32(worth)
    found = total > 0 if not plan.everything else np.ones(len(segment), bool)
    total += np.float32(PRIOR * plan.worth) * segment.priors
    if plan.everything:
        # A score tells that something is found, so it must not be 0.
        total += np.float32(1)
    total[~(found & _let_pass(plan, segment, found))] = 0
    return total


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
        eligible = np.flatnonzero((total > 0) & (total <= after.score)) if after else np.flatnonzero(total)
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
