"""Tools that match a plan: those that hits name, and the best tools of the best entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from ...domain.tools import OfferedTool
from ..index.arrays import Longs
from ..index.tools import HAS_TOOLS, IMPACTS, decode_tools, term_hash, tool_terms
from ..index.view import View
from ..query.rows import Plan, Row
from .ranking import Ranking
from .scoring import rank

NAMED = 3
"""Tools that a hit names."""

NAMING = 10
"""The first hits, which name their tools."""

MIN_SHARE = 0.35
"""The least share of the weight of the query that the words of a named tool have."""

OF_BEST = 0.6
"""The least score of a named tool, relative to the best one of its hit."""

CONCEPTS = 0.4
"""The weight of a concept for tools, relative to the words that ask for it."""

ENTRIES = 300
"""The best entries whose tools are ranked."""

ENTRY_SHARE = 0.3
"""The part of the score of a tool that is the score of its entry, relative to the best entry."""

MAX_ROWS = 24
"""Rows of a word that are compared, those of the greatest weight."""

_BUCKETS = 1 << 16

Scores = NDArray[np.float32]


@frozen
class ToolScores:
    """The scores of the tools of documents, and the share of the weight of the query that each has words for.

    The tools of document number n are those from `starts[n]` to `starts[n + 1]`.
    """

    starts: NDArray[np.int64]
    scores: Scores
    shares: Scores


def searches_tools(plan: Plan) -> bool:
    """Return whether `plan` has the filter that searches tools only."""
    has_filter = any(HAS_TOOLS in alternatives for alternatives in plan.parsed.required)
    return has_filter and not plan.filters_only and any(plan.groups)


def named_tools(plan: Plan, view: View, docs: Longs) -> Sequence[Sequence[OfferedTool]]:
    """Return for each of the first NAMING `docs` its tools that match best, at most NAMED; empty if none has any.

    A search for a name asks for the entry and not for a tool.
    """
    stored = [] if plan.is_name else view.items("tools", docs[:NAMING])
    if not any(stored):
        return ()
    found = score_tools(plan, stored)
    named: list[Sequence[OfferedTool]] = []
    for place, packed in enumerate(stored):
        span = slice(found.starts[place], found.starts[place + 1])
        scores = np.where(found.shares[span] >= MIN_SHARE, found.scores[span], 0)
        best = np.argsort(-scores, kind="stable")[:NAMED]
        best = best[scores[best] > OF_BEST * scores.max(initial=0)] if len(scores) else best
        tools = decode_tools(packed) if len(best) else ()
        named.append([tools[number] for number in best.tolist()])
    return [*named, *([()] * (len(docs) - len(named)))] if any(named) else ()


def best_tools(plan: Plan, view: View, limit: int) -> list[tuple[int, OfferedTool]]:
    """Return the `limit` best tools of the ENTRIES best entries, best first, each with its document."""
    docs, _, stored, found = _tools_of_best(plan, view)
    entry_of = np.repeat(np.arange(len(docs)), np.diff(found.starts))
    order = np.lexsort((np.arange(len(entry_of)), -found.scores))[:limit]
    tools: dict[int, Sequence[OfferedTool]] = {}
    best = []
    for number in order[found.scores[order] > 0].tolist():
        place = int(entry_of[number])
        if place not in tools:
            tools[place] = decode_tools(stored[place])
        best.append((int(docs[place]), tools[place][number - int(found.starts[place])]))
    return best


def ranked_by_tools(plan: Plan, view: View) -> Ranking:
    """Return the ENTRIES best entries by the score of the best tool of each."""
    docs, ranking, _, found = _tools_of_best(plan, view)
    spans = zip(found.starts[:-1].tolist(), found.starts[1:].tolist(), strict=True)
    scores = np.round(np.array([float(found.scores[first:last].max(initial=0)) for first, last in spans]), 4)
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > 0]
    matched = np.sort(docs[order])
    return Ranking(plan, view, matched, ranking.candidates, ranking.matrix, ranking.bounds, docs[order], scores[order])


def _tools_of_best(plan: Plan, view: View) -> tuple[Longs, Ranking, Sequence[bytes], ToolScores]:
    """Return the ENTRIES best entries with tools, their ranking, their tools, and the scores of these."""
    parsed = evolve(plan.parsed, required=[*plan.parsed.required, (HAS_TOOLS,)])
    # Pins are for entries: they say nothing about tools.
    ranking = rank(evolve(plan, parsed=parsed), view, pins=False)
    docs, scores = ranking.page(ENTRIES, None)
    stored = view.items("tools", docs)
    found = score_tools(plan, stored)
    if len(docs):
        of_entry = np.repeat((scores / max(float(scores[0]), 1e-9)).astype(np.float32), np.diff(found.starts))
        found = evolve(
            found, scores=np.where(found.scores > 0, found.scores + np.float32(ENTRY_SHARE) * of_entry, np.float32(0))
        )
    return docs, ranking, stored, found


def score_tools(plan: Plan, stored: Sequence[bytes]) -> ToolScores:
    """Return the scores of the tools in `stored`: 1 for all words of the query at their greatest impact."""
    evidence = [*_evidence(plan)]
    terms = [tool_terms(packed) if packed else None for packed in stored]
    numbers = np.array([0 if of_entry is None else len(of_entry.counts) for of_entry in terms], np.int64)
    starts = np.concatenate([[0], np.cumsum(numbers)])
    total = int(starts[-1])
    scores, shares = np.zeros(total, np.float32), np.zeros(total, np.float32)
    known = sorted({term_hash(term) for rows, _ in evidence for row in rows for term in row[:2]})
    if not (total and known):
        return ToolScores(starts, scores, shares)
    counts = np.concatenate([of_entry.counts for of_entry in terms if of_entry is not None]).astype(np.int64)
    every = np.concatenate([of_entry.terms for of_entry in terms if of_entry is not None])
    table = _impacts(every, np.repeat(np.arange(total), counts), total, np.array(known, np.uint32))
    place = {term: number for number, term in enumerate(known)}
    weight = sum(word.value for word in plan.words) or 1.0
    for rows, value in evidence:
        firsts, others = ([place[term_hash(row[side])] for row in rows] for side in (0, 1))
        factors = np.array([row[2] for row in rows], np.float32)
        best = (np.minimum(table[firsts], table[others]) * factors[:, None]).max(axis=0)
        scores += np.float32(value / weight) * best
        shares += np.float32(value / weight) * (best > 0)
    return ToolScores(starts, scores, shares)


def _impacts(every: NDArray[np.uint32], tool_of: NDArray[np.int64], total: int, known: NDArray[np.uint32]) -> Scores:
    """Return the impact of each of the `known` terms in each of `total` tools, 0 where it is absent."""
    hashes = every >> 8
    # Nearly all words are not in the query: one look-up of 16 bits drops them.
    may_be = np.zeros(_BUCKETS, bool)
    may_be[known & (_BUCKETS - 1)] = True
    left = np.flatnonzero(may_be[hashes & (_BUCKETS - 1)])
    columns = np.minimum(np.searchsorted(known, hashes[left]), len(known) - 1)
    is_known = known[columns] == hashes[left]
    left, columns = left[is_known], columns[is_known]
    table = np.zeros((len(known), total), np.float32)
    table[columns, tool_of[left]] = (every[left] & 255) / np.float32(IMPACTS)
    return table


def _evidence(plan: Plan) -> Iterator[tuple[Sequence[Row], float]]:
    """Yield the rows of each word of `plan` and of each concept, and what a tool with the best of them scores."""
    for word in plan.words:
        if word.rows and not word.is_beside:
            yield sorted(word.rows, key=lambda row: -row[2])[:MAX_ROWS], word.value
    for concept in plan.concepts:
        # The first term of a concept is the most specific one.
        rows = [(one, other, idf / concept.rows[0][3], idf) for one, other, _, idf in concept.rows[:MAX_ROWS]]
        yield rows, CONCEPTS * sum(concept.shares.values())
