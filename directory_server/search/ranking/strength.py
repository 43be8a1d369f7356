"""Strength: how well the first hits answer a query. Without a close match, only the first hits are kept.

Every query with a known word has matches. The strength says whether they have most of what was typed.
"""

from __future__ import annotations

import numpy as np

from ...domain.search import CLOSE
from ..index.arrays import Bools, Doubles, Longs
from ..query.concepts import TERM_DECAY
from .ranking import PINNED_SCORE, Ranking

KEPT = 10
"""The first hits, by which the strength is measured, and which are kept of a query without a close match."""

COUNTED, ENTRIES_EACH = 5, 5_000
"""Those of the first hits that answer best, of which the strength is the mean: one for so many entries, at most five.

One good hit of many entries may be chance. A small catalogue has one entry for most topics.
"""

MAX_WEIGHT = 25.0
"""The weight of a query that a hit has to cover at most: a long sentence has words beside its topic."""

DECAYS = TERM_DECAY ** np.arange(100.0)[:, None]
"""The weights of the terms of a concept, by their place."""

AS_WRITTEN = 0.7
"""The least weight of a row that stands for the word itself: completions, corrections and further translations have
less."""

LEAST_IMPACT, NAMED_IMPACT = 0.4, 0.9
"""The least impact of a word that is not only in a long text, and of one in a name."""

TELLING = 0.4
"""The share of a query from which one word tells the topic."""

INCOMPLETE, ALMOST_STRONG = 0.9, 0.59
"""The factor of the strength if no hit has all words, and the greatest one: the match is partial."""

TRANSLATED = 0.5
"""The weight of unknown words of a translated query: not all words of other languages can be known."""


def strength(ranking: Ranking) -> float:
    """Return how well the first KEPT hits answer a query, from 0 to 1.

    It is the mean of the share of the query that a hit covers and of the cosine of their vectors. Names that equal the
    query or begin with it answer it fully, and so does any entry a query without words.
    """
    plan = ranking.plan
    if plan.is_name or plan.filters_only or not plan.parsed.runs:
        return 1.0
    first = ranking.docs[:KEPT]
    if not len(first):
        return 0.0
    counted = min(max(round(ranking.view.size / ENTRIES_EACH), 1), COUNTED)
    present = ranking.matrix[:, ranking.columns(first)] > 0
    covered = _covered(ranking, present)
    value = float(np.sort(covered)[-counted:].mean())
    if len(ranking.cosines):
        value = (value + float(np.sort(ranking.cosines[:KEPT])[-counted:].mean())) / 2
    names = present[ranking.bounds[len(plan.words) + len(plan.concepts)] :]
    if len(plan.words) < 2 and names.any():
        return 1.0
    has_named, has_all = _written(ranking, first)
    if not has_all:
        value = min(value * INCOMPLETE, ALMOST_STRONG)
    return max(value, CLOSE) if has_named else value


def _written(ranking: Ranking, first: Longs) -> tuple[bool, bool]:
    """Return whether one of the `first` hits has a word that tells the topic in its name, and whether one has all.

    A word is matched as it is written, or as two words, or translated. Words that may state a condition and those on
    any topic do not count.
    """
    is_small = ranking.view.size < ENTRIES_EACH
    plan, impacts = ranking.plan, ranking.matrix[:, ranking.columns(first)]
    content = [number for number, word in enumerate(plan.words) if not word.is_beside and word.weight >= 1]
    total = sum(word.value for word in plan.words if not word.is_beside) + plan.unknown
    has_named, has_all = np.zeros(len(first), bool), np.full(len(first), bool(content) and not plan.unknown)
    for number in content:
        word, start = plan.words[number], ranking.bounds[number]
        rows = [start + place for place, row in enumerate(word.rows) if row[2] >= AS_WRITTEN and word.is_certain]
        best = impacts[rows].max(axis=0) if rows and not word.is_corrected else np.zeros(len(first))
        has_all &= best >= LEAST_IMPACT
        if word.is_product or (is_small and word.value >= TELLING * total):
            has_named |= best >= NAMED_IMPACT
    return bool(has_named.any()), bool(has_all.any())


def _covered(ranking: Ranking, present: Bools) -> Doubles:
    """Return the share of the query that each hit covers; `present` tells which rows of the plan it has."""
    plan, bounds = ranking.plan, ranking.bounds
    of_concepts = len(plan.words)
    weights = np.array([0.0 if word.is_beside else word.value for word in plan.words])
    total = weights.sum() + plan.unknown * (TRANSLATED if plan.language else 1.0)
    shares = [min(row[2], 1.0) if word.is_certain else 0.0 for word in plan.words for row in word.rows]
    covered = np.zeros((of_concepts, present.shape[1]))
    filled = [number for number, word in enumerate(plan.words) if word.rows]
    if filled:
        rows = present[: bounds[of_concepts]] * np.array(shares)[:, None]
        covered[filled] = np.maximum.reduceat(rows, [bounds[number] for number in filled])
    for concept, first, last in zip(plan.concepts, bounds[of_concepts:], bounds[of_concepts + 1 :], strict=False):
        value = (present[first:last] * DECAYS[: last - first]).max(axis=0)
        for place in concept.shares:
            np.maximum(covered[place], value, out=covered[place])
    return np.minimum(weights @ covered / min(max(float(total), 1e-9), MAX_WEIGHT), 1.0)


def relevance(ranking: Ranking, scores: Doubles, value: float) -> list[float]:
    """Return how well each of the hits with `scores` answers its query: its share of the score of the best one."""
    best = _plain(ranking.scores[:KEPT]).max(initial=0.0)
    shares = _plain(scores) / best if best else np.ones(len(scores))
    relevant: list[float] = (value * np.clip(shares, 0, 1)).tolist()
    return relevant


def _plain(scores: Doubles) -> Doubles:
    return np.where(scores >= PINNED_SCORE, scores - PINNED_SCORE, scores)
