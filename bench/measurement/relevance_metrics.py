"""Relevance metrics of ranked lists, and confidence intervals of their means.

A ranked list contains the names of the hits, best first, without duplicates. Grades are those of the judged names: 3
best, 1 least.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2
from random import Random
from statistics import fmean

Grades = Mapping[str, int]

BEST = 3
"""The grade of the names that recall counts."""

GOOD = 2
"""The least grade of a hit that counts for the reciprocal rank. A hit of grade 1 is only related."""

RESAMPLES = 2000
"""Bootstrap samples of one interval."""


def ndcg(found: Sequence[str], grades: Grades, depth: int = 10) -> float:
    """Return the normalised discounted cumulative gain of the first `depth` hits.

    The gain of a hit is 2^grade - 1, divided by log2(rank + 1); the ideal list has the judged names in the order
    of their grades (Järvelin and Kekäläinen 2002, with the gain of Burges et al. 2005).
    """
    ideal = _gain(sorted(grades.values(), reverse=True)[:depth])
    return _gain([grades.get(name, 0) for name in found[:depth]]) / ideal if ideal else 0.0


def recall(found: Sequence[str], grades: Grades, depth: int = 50) -> float | None:
    """Return the share of the names of grade BEST among the first `depth` hits; None if there are no such names."""
    wanted = {name for name, grade in grades.items() if grade == BEST}
    return len(wanted.intersection(found[:depth])) / len(wanted) if wanted else None


def recall_bound(grades: Grades, depth: int = 50) -> float | None:
    """Return the recall of a perfect list: below 1 if more than `depth` names are of grade BEST."""
    return recall([name for name, grade in grades.items() if grade == BEST], grades, depth)


def reciprocal_rank(found: Sequence[str], grades: Grades) -> float:
    """Return 1 / rank of the first hit of grade GOOD or better; 0 if there is none."""
    return next((1 / rank for rank, name in enumerate(found, 1) if grades.get(name, 0) >= GOOD), 0.0)


def mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of the values without None, or None if there are none."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def interval(values: Sequence[float | None], *, seed: int = 0) -> tuple[float, float] | None:
    """Return the 95 % bootstrap interval of the mean of the values without None, or None if there are none.

    It is the percentile interval (Efron 1979), the same for the same values, order and seed. For the differences of two
    runs, query by query, it is the interval of a paired comparison.
    """
    known = [value for value in values if value is not None]
    if not known:
        return None
    random = Random(seed)
    means = sorted(fmean(random.choices(known, k=len(known))) for _ in range(RESAMPLES))
    outside = RESAMPLES * 25 // 1000
    return means[outside], means[-1 - outside]


def _gain(ranked: Sequence[int]) -> float:
    return sum(((1 << grade) - 1) / log2(rank + 1) for rank, grade in enumerate(ranked, 1))
