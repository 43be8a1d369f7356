"""Strength: how well the first hits answer a query. Without a close match, only the first hits are kept.

Every query with a known word has matches. The strength says whether they have most of what was typed.
"""

from __future__ import annotations

from math import fsum

import numpy as np

from ...domain.search import CLOSE
from ..index.arrays import Bools, Doubles, Floats
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
    impacts = ranking.matrix[:, ranking.columns(first)]
    present = impacts > 0
    covered = _covered(ranking, present)
    value = _mean_of_greatest(covered, counted)
    if len(ranking.cosines):
        value = (value + _mean_of_greatest(ranking.cosines[:KEPT], counted)) / 2
    names = present[ranking.bounds[len(plan.words) + len(plan.concepts)] :]
    if len(plan.words) < 2 and names.any():
        return 1.0
    has_named, has_all = _written(ranking, impacts)
    if not has_all:
        value = min(value * INCOMPLETE, ALMOST_STRONG)
    return max(value, CLOSE) if has_named else value


def _mean_of_greatest(values: Doubles, count: int) -> float:
    greatest = sorted(values.tolist())[-count:]
    return fsum(greatest) / len(greatest)


def _written(ranking: Ranking, impacts: Floats) -> tuple[bool, bool]:
    """Return whether one of the first hits has a word that tells the topic in its name, and whether one has all.

    `impacts` are those of the rows in these hits. A word is matched as it is written, or as two words, or translated.
    Words that may state a condition and those on any topic do not count.
    """
    plan, is_small = ranking.plan, ranking.view.size < ENTRIES_EACH
    total = sum(word.value for word in plan.words if not word.is_beside) + plan.unknown
    has_named = False
    has_all = np.full(impacts.shape[1], not plan.unknown)
    content = [(word, first) for word, first in zip(plan.words, ranking.bounds, strict=False) if word.weight >= 1]
    for word, first in content:
        if word.is_beside:
            continue
        rows = [first + place for place, row in enumerate(word.rows) if row[2] >= AS_WRITTEN and word.is_certain]
        if not rows or word.is_corrected:
            has_all[:] = False
            continue
        best = impacts[rows[0]] if len(rows) == 1 else impacts[rows].max(axis=0)
        has_all &= best >= LEAST_IMPACT
        if word.is_product or (is_small and word.value >= TELLING * total):
            has_named |= bool(best.max() >= NAMED_IMPACT)
    return has_named, bool(content) and bool(has_all.any())


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
    best = max(_plain(ranking.scores[:KEPT]), default=0.0)
    return [value * (min(score / best, 1.0) if best else 1.0) for score in _plain(scores)]


def _plain(scores: Doubles) -> list[float]:
    return [score - PINNED_SCORE if score >= PINNED_SCORE else score for score in scores.tolist()]
