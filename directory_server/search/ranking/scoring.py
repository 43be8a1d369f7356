"""Scores: candidates by one pass over postings, and one ranking of the best of them.

All rows of a plan are scored in one matrix of terms and candidates. A word scores by its best row, a concept by all of
its rows, relative to its best document. Then follow the share of the query that a document has, names, the prior, a
description that is about the query, conditions, and likeness of meaning. Explanation, strength and the choice of tools
read the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from ..index.arrays import Bools, Doubles, Floats, Longs
from ..index.document import DESCRIBED
from ..index.segment import SHIFT, UNIT
from ..index.view import PRIOR, View
from ..query.rows import Plan, as_arrays
from ..tables.conditions import factors
from .likeness import likeness_of
from .ranking import DIGITS, PINNED_SCORE, Ranking

CANDIDATES = 128
"""Documents that are ranked by all features. The others follow by their sums."""

MAX_CANDIDATES = 512
"""Candidates if more have equal sums."""

LOSS = 0.5
"""The share of its score that a document loses if it has no word of the query."""

COVERED = 0.4
"""The share of the weight of a word from which it is fully covered."""

TELLING, INSTEAD = 8.0, 0.5
"""The idf from which a word tells the topic of a query, and the part of what its concept adds to a document without it.

A concept is wider than its rare words: diagrams are no PlantUML."""

MAX_RAISED = 2.0
"""The weights of a query up to which the prior raises a score."""

FOCUS, FOCUSED, MEAN_IDF = 0.5, 64, 5.0
"""What a description gains that is about the query, in the best documents, and the mean rarity of its words."""

CONCEPT_SHARE = 1.5
"""The weight of a concept in the sum that chooses candidates, relative to what it may add to a score."""

AVOIDED = 0.35
"""The factor of the score of a client of a product that the query wants something else than."""

STORED_UNIT = UNIT << SHIFT
"""The stored value of an impact of 1. The flags, its lowest bits, add less than the rounding of a score."""

SPARSE = 16
"""Documents of a view for each posting from which sums are made of the postings alone."""


def rank(plan: Plan, view: View, *, focuses: bool = True, pins: bool = True) -> Ranking:
    """Return what matches `plan` in `view`.

    `focuses` is false for a page in another order than relevance, `pins` for one without pinned documents.
    """
    groups = plan.groups
    bounds = [0, *accumulate(map(len, groups))]
    if not bounds[-1] or not view.segments:
        return _ranking_of_all(plan, view, view.pinned if pins else view.pinned[:0])
    terms, firsts, others, weights, idfs = as_arrays(groups)
    sizes = [len(word.rows) for word in plan.words]
    weights[: sum(sizes)] *= np.repeat([word.weight for word in plan.words], sizes)
    docs, values, lengths = _postings(terms, view)
    rough = _rough_weights(plan, len(terms), firsts, others, weights, bounds[len(plan.words)])
    matched, sums = _sums(docs, values * np.repeat([*rough.tolist()] * len(view.segments), lengths), view)
    sums *= view.boosts[matched]
    if not view.is_whole:
        keep = np.flatnonzero(sums)
        matched, sums = matched[keep], sums[keep]
    matched, sums = _filtered(plan, view, matched, sums)
    best, rest = matched, np.empty(0, np.int64)
    rest_sums = np.empty(0)
    if len(matched) > CANDIDATES:
        is_best = _are_best(view, matched, sums)
        best, rest, rest_sums = matched[is_best], matched[~is_best], sums[~is_best]
    if not len(best):
        empty = np.empty(0, np.int64)
        return Ranking(plan, view, empty, empty, np.zeros((len(weights), 0), np.float32), bounds, empty, np.empty(0))
    columns, postings = _columns(docs, best, view)
    values, rows = values[postings], np.cumsum(lengths).searchsorted(postings, side="right") % len(terms)
    table = np.zeros((len(terms), len(best)), np.float32)
    table[rows, columns] = values * np.float32(1 / STORED_UNIT)
    matrix = table[firsts] if np.array_equal(firsts, others) else np.minimum(table[firsts], table[others])
    scores, covered = _scores(plan, view, matrix, weights, bounds, best)
    if len(plan.words) > 1 and not plan.is_name and not plan.conditions and focuses:
        rarities = np.zeros(len(terms))
        rarities[firsts] = idfs
        rarities[others] = np.maximum(rarities[others], idfs)
        scores *= 1 + _focus(view, rarities[rows], columns, values, best, scores)
    if plan.conditions:
        scores *= factors(plan.conditions, view.column("facts", best), covered)
    if plan.avoided:
        scores[np.isin(best, view.named(plan.avoided))] *= AVOIDED
    pinned = view.pinned if pins else view.pinned[:0]
    return _ordered(plan, view, matched, best, matrix, bounds, scores, rest, rest_sums, pinned)


def _are_best(view: View, matched: Longs, sums: Doubles) -> Bools:
    """Return which of `matched` are the CANDIDATES with the greatest sums, or as many more as have an equal sum.

    Of very many equal ones the hash of the id decides: the numbers of documents depend on the segments.
    """
    are_best: Bools = sums >= np.partition(sums, -CANDIDATES)[-CANDIDATES]
    if np.count_nonzero(are_best) > MAX_CANDIDATES:
        order = np.lexsort((view.column("keys", matched), -sums))[:CANDIDATES]
        are_best = np.zeros(len(matched), bool)
        are_best[order] = True
    return are_best


def _ordered(
    plan: Plan, view: View, matched: Longs, best: Longs, matrix: Floats, bounds: Sequence[int], scores: Doubles,
    rest: Longs, rest_sums: Doubles, pins: Longs,
) -> Ranking:  # fmt: skip
    """Return the ranking of candidates with these scores, after likeness and pins."""
    docs = best
    gained, cosines = likeness_of(plan, view, docs, scores)
    # Rounding may lower a score, and the documents behind the first ones must stay behind them.
    scores = np.maximum(gained, scores) if len(gained) else scores
    scores = scores.round(DIGITS)
    if len(pins):
        scores = scores + PINNED_SCORE * np.isin(docs, pins)
        is_pin = np.isin(rest, pins)
        docs = np.concatenate([docs, rest[is_pin]])
        scores = np.concatenate([scores, np.full(np.count_nonzero(is_pin), PINNED_SCORE)])
        rest, rest_sums = rest[~is_pin], rest_sums[~is_pin]
    order = np.lexsort((view.column("keys", docs), -scores))
    cosines = cosines[order[order < len(cosines)]] if len(cosines) else cosines
    return Ranking(plan, view, matched, best, matrix, bounds, docs[order], scores[order], rest, rest_sums, cosines)


def _postings(terms: Sequence[str], view: View) -> tuple[Longs, Longs, list[int]]:
    """Return the documents of the postings of `terms`, their values, and the number of each term in each segment."""
    docs, values = zip(*view.postings(terms), strict=True)
    return np.concatenate(docs), np.concatenate(values), [*map(len, docs)]


def _rough_weights(plan: Plan, size: int, firsts: Longs, others: Longs, weights: Doubles, first: int) -> Doubles:
    """Return what each term adds to the sum that chooses candidates: a concept by what its best document gets.

    The rows of concepts begin at `first`.
    """
    shares = weights / STORED_UNIT
    for concept in plan.concepts:
        rows = slice(first, first := first + len(concept.rows))
        shares[rows] *= CONCEPT_SHARE * sum(concept.shares.values()) / weights[rows].sum()
    shares[firsts != others] /= 2
    rough = np.zeros(size)
    np.maximum.at(rough, firsts, shares)
    np.maximum.at(rough, others, shares)
    return rough


def _sums(docs: Longs, scores: Doubles, view: View) -> tuple[Longs, Doubles]:
    """Return the distinct `docs`, in ascending order, and the sum of the scores of each."""
    size = len(view.boosts)
    if not len(docs):
        return docs, np.zeros(0)
    if len(docs) * SPARSE < size:
        # Numpy's unique takes three times as long for so few.
        order = docs.argsort(kind="stable")
        docs = docs[order]
        starts = np.flatnonzero(np.concatenate(([True], docs[1:] != docs[:-1])))
        return docs[starts], np.add.reduceat(scores[order], starts).astype(np.float64, copy=False)
    sums = np.bincount(docs, scores, size).astype(np.float64, copy=False)
    # Numpy finds true values in less time than numbers.
    matched = np.flatnonzero(sums > 0)
    return matched, sums[matched]


def _filtered(plan: Plan, view: View, matched: Longs, sums: Doubles) -> tuple[Longs, Doubles]:
    """Return those of `matched` that satisfy the filters, exclusions and phrases of a plan, and their sums."""
    keep = _satisfying(plan, view, matched)
    return (matched, sums) if keep is None else (matched[keep], sums[keep])


def _satisfying(plan: Plan, view: View, docs: Longs) -> Bools | None:
    """Return which of `docs` satisfy the filters, exclusions and phrases of a plan; None for all."""
    parsed = plan.parsed
    if not (parsed.required or parsed.excluded or parsed.phrases):
        return None
    keep = np.ones(len(docs), bool)
    for alternatives in parsed.required:
        keep &= np.isin(docs, view.having(alternatives))
    if parsed.excluded:
        keep &= ~np.isin(docs, view.having(parsed.excluded))
    # The longest phrase is likely the rarest.
    for phrase in sorted(parsed.phrases, key=len, reverse=True):
        left = np.flatnonzero(keep)
        for segment, places, numbers in view.located(docs[left]):
            keep[left[places]] = segment.phrases.containing(numbers, phrase.encode("utf-8", "surrogatepass"))
    return keep


def _columns(docs: Longs, best: Longs, view: View) -> tuple[Longs, Longs]:
    """Return the places in the ordered `best` of those of `docs` that are there, and the places of these."""
    if len(docs) * SPARSE < len(view.boosts):
        columns = best.searchsorted(docs)
        columns[columns == len(best)] = 0
        kept = np.flatnonzero(best[columns] == docs)
        return columns[kept], kept
    column = np.full(len(view.boosts), -1, np.int16)
    column[best] = np.arange(len(best))
    of_postings = column[docs]
    kept = np.flatnonzero(of_postings >= 0)
    return of_postings[kept].astype(np.int64), kept


def _scores(
    plan: Plan, view: View, matrix: Floats, weights: Doubles, bounds: Sequence[int], best: Longs
) -> tuple[Doubles, Floats | Doubles]:
    """Return the scores of the candidates by words, concepts, names and prior, and the share of the query they have."""
    words, concepts, of_concepts, of_names = (
        plan.words,
        plan.concepts,
        len(plan.words),
        len(plan.words) + len(plan.concepts),
    )
    scored = matrix * weights.astype(np.float32)[:, None]
    own = np.zeros((len(words), matrix.shape[1]), np.float32)
    filled = [number for number, word in enumerate(words) if word.rows]
    if filled:
        own[filled] = np.maximum.reduceat(scored[: bounds[of_concepts]], [bounds[number] for number in filled])
    for concept, first, last in zip(concepts, bounds[of_concepts:], bounds[of_concepts + 1 :], strict=False):
        values = scored[first:last].sum(axis=0)
        values = np.sqrt(values / max(float(values.max()), 1e-9))
        for place, share in concept.shares.items():
            if words[place].idf >= TELLING and words[place].rows and not words[place].is_corrected:
                own[place] += np.float32(share) * values * np.where(own[place] > 0, 1, INSTEAD)
            else:
                own[place] += np.float32(share) * values
    totals = own.sum(axis=0)
    covered: Floats | Doubles = np.ones(len(best), np.float32)
    if len(words) > 1:
        limits = np.array([COVERED * word.value for word in words], np.float32)
        rarity = np.array([word.rarity for word in words], np.float32)
        covered = rarity @ np.minimum(own, limits[:, None]) / max(float(limits @ rarity), 1e-9)
        totals *= 1 - LOSS + LOSS * covered
    if plan.names:
        first = bounds[of_names]
        totals += np.maximum.reduceat(scored[first:], [bound - first for bound in bounds[of_names:-1]]).sum(axis=0)
    totals += PRIOR * view.column("priors", best) * np.minimum(totals, MAX_RAISED * plan.weight)
    return totals.astype(np.float64), covered


def _focus(view: View, rarities: Doubles, columns: Longs, values: Longs, best: Longs, scores: Doubles) -> Doubles:
    """Return the share that each candidate gains because the query has most of its description.

    `rarities` are those of the terms of postings, `columns` their candidates.
    """
    said = np.bincount(columns, rarities * (values & DESCRIBED != 0), len(best))
    about = said / (np.maximum(view.column("described", best), 1) * MEAN_IDF)
    least = np.partition(scores, -FOCUSED)[-FOCUSED] if len(scores) > FOCUSED else 0.0
    gains: Doubles = FOCUS * np.sqrt(np.minimum(about, 1)) * (scores >= least)
    return gains


def _ranking_of_all(plan: Plan, view: View, pins: Longs) -> Ranking:
    """Return all documents that satisfy the filters, for a query without words; none for one with unknown words."""
    every = np.flatnonzero(view.boosts)
    if not plan.filters_only and (plan.parsed.runs or not (plan.parsed.required or plan.parsed.excluded)):
        every = every[:0]
    matched, sums = _filtered(plan, view, every, view.boosts[every])
    matrix = np.zeros((0, len(matched)), np.float32)
    return _ordered(plan, view, matched, matched, matrix, [0], sums, matched[:0], sums[:0], pins)
