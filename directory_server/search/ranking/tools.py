"""Tools that match a plan: those that hits name, and the best tools of the best entries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from ...domain.search import Position
from ...domain.tools import OfferedTool
from ..index.arrays import Bools, Ints
from ..index.collection import Collection
from ..index.tools import HAS_TOOLS, IMPACTS, decode_tools, term_hash, tool_terms
from ..query.groups import TermGroup
from ..query.plan import Plan
from .scoring import Ranked, ranked_documents

NAMED = 3
"""Tools that a hit names."""

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

MAX_ALTERNATIVES = 24
"""Alternative terms of a part of a query that are compared, those of the greatest weight."""

_BUCKETS = 1 << 16

Scores = NDArray[np.float32]


@frozen
class _Evidence:
    """Groups of alternative terms, by their hashes, of which a tool scores by the best one, times `weight`."""

    weight: float
    groups: Sequence[tuple[Sequence[int], float]]


@frozen
class ToolScores:
    """The scores of the tools of documents, and the share of the weight of the query that each has words for.

    The tools of document number n are those from `starts[n]` to `starts[n + 1]`.
    """

    starts: NDArray[np.int64]
    scores: Scores
    shares: Scores


def searches_tools(plan: Plan, collection: Collection) -> bool:
    """Return whether `plan` has the filter that searches tools only."""
    return bool(plan.required) and not plan.filters_only and _having_tools(collection) in plan.required


def _having_tools(collection: Collection) -> list[int]:
    """Return the alternatives that the filter for entries with tools requires; none if no entry has tools."""
    term = collection.find(HAS_TOOLS)
    return [] if term is None else [term]


def named_tools(plan: Plan, collection: Collection, hits: Sequence[Ranked]) -> Sequence[Sequence[OfferedTool]]:
    """Return for each of `hits` its tools that match best, at most NAMED; empty if no hit has any.

    A search for a name asks for the entry and not for a tool.
    """
    stored = [bytes(collection.segments[number].rows.tools[doc_id]) for _, number, doc_id in hits]
    if plan.is_name or not any(stored):
        return ()
    found = score_tools(plan, collection, stored)
    named: list[Sequence[OfferedTool]] = []
    for place, packed in enumerate(stored):
        span = slice(found.starts[place], found.starts[place + 1])
        scores = np.where(found.shares[span] >= MIN_SHARE, found.scores[span], 0)
        best = np.argsort(-scores, kind="stable")[:NAMED]
        best = best[scores[best] > OF_BEST * scores.max(initial=0)] if len(scores) else best
        tools = decode_tools(packed) if len(best) else ()
        named.append([tools[number] for number in best.tolist()])
    return named if any(named) else ()


def best_tools(
    plan: Plan, collection: Collection, live: Sequence[Bools], limit: int
) -> list[tuple[Ranked, OfferedTool]]:
    """Return the `limit` best tools of the ENTRIES best entries, best first, each with its entry and the score."""
    entries, stored, found = _tools_of_best(plan, collection, live)
    if not entries:
        return []
    entry_of = np.repeat(np.arange(len(entries)), np.diff(found.starts))
    order = np.lexsort((np.arange(len(entry_of)), -found.scores))[:limit]
    tools: dict[int, Sequence[OfferedTool]] = {}
    best = []
    for number in order[found.scores[order] > 0].tolist():
        place = int(entry_of[number])
        if place not in tools:
            tools[place] = decode_tools(stored[place])
        _, segment, doc_id = entries[place]
        tool = tools[place][number - int(found.starts[place])]
        best.append(((float(found.scores[number]), segment, doc_id), tool))
    return best


def ranked_by_tools(
    plan: Plan, collection: Collection, live: Sequence[Bools], limit: int, after: Position | None
) -> list[Ranked]:
    """Return at most `limit` of the ENTRIES best entries after `after`, by the score of the best tool and by name."""
    entries, _, found = _tools_of_best(plan, collection, live)
    best = [
        float(found.scores[found.starts[place] : found.starts[place + 1]].max(initial=0))
        for place in range(len(entries))
    ]
    keyed = sorted(
        (
            (-score, collection.segments[number].rows.name(doc_id), (score, number, doc_id))
            for score, (_, number, doc_id) in zip(best, entries, strict=True)
            if score > 0
        ),
        key=lambda each: each[:2],
    )
    start = (-np.inf, "") if after is None else (-after.score, after.name)
    return [ranked for score, name, ranked in keyed if (score, name) > start][:limit]


def _tools_of_best(
    plan: Plan, collection: Collection, live: Sequence[Bools]
) -> tuple[Sequence[Ranked], Sequence[bytes], ToolScores]:
    """Return the ENTRIES best entries with tools, their tools, and the scores of these."""
    plan = evolve(plan, required=[*plan.required, _having_tools(collection)])
    # Pins are for entries: they say nothing about tools.
    pinned: Sequence[Ints] = [np.empty(0, np.int32) for _ in collection.segments]
    entries = ranked_documents(plan, collection, live, pinned, ENTRIES, None)
    stored = [bytes(collection.segments[number].rows.tools[doc_id]) for _, number, doc_id in entries]
    found = score_tools(plan, collection, stored)
    if entries:
        of_entry = np.array([score for score, _, _ in entries], np.float32) / max(entries[0][0], 1e-9)
        share = ENTRY_SHARE * np.repeat(of_entry, np.diff(found.starts)).astype(np.float32)
        found = evolve(found, scores=np.where(found.scores > 0, found.scores + share, np.float32(0)))
    return entries, stored, found


def score_tools(plan: Plan, collection: Collection, stored: Sequence[bytes]) -> ToolScores:
    """Return the scores of the tools in `stored`: 1 for all words of the query at their greatest impact."""
    evidence, concepts = _evidence(plan, collection)
    terms = [tool_terms(packed) if packed else None for packed in stored]
    numbers = np.array([0 if of_entry is None else len(of_entry.counts) for of_entry in terms], np.int64)
    starts = np.concatenate([[0], np.cumsum(numbers)])
    total = int(starts[-1])
    known = sorted({term for part in (*evidence, *concepts) for group, _ in part.groups for term in group})
    if not (total and known):
        return ToolScores(starts, np.zeros(total, np.float32), np.zeros(total, np.float32))
    counts = np.concatenate([of_entry.counts for of_entry in terms if of_entry is not None]).astype(np.int64)
    every = np.concatenate([of_entry.terms for of_entry in terms if of_entry is not None])
    table = _impacts(every, np.repeat(np.arange(total), counts), total, np.array(known, np.uint32))
    places = {term: place for place, term in enumerate(known)}
    scores, shares = np.zeros(total, np.float32), np.zeros(total, np.float32)
    for part in evidence:
        best = _best(part, table, places)
        scores += np.float32(part.weight) * best
        shares += np.float32(part.weight) * (best > 0)
    for concept in concepts:
        best = _best(concept, table, places)
        scores += np.float32(CONCEPTS * concept.weight) * best
        shares += np.float32(CONCEPTS * concept.weight) * (best > 0)
    weight = np.float32(plan.query_weight)
    return ToolScores(starts, scores / weight, shares / weight)


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


def _best(evidence: _Evidence, table: Scores, places: dict[int, int]) -> Scores:
    """Return for each tool the score of the best group of `evidence`: that of its rarest term, times its weight."""
    found = [
        np.float32(weight) * table[[places[term] for term in terms]].min(axis=0) for terms, weight in evidence.groups
    ]
    best: Scores = np.max(found, axis=0)
    return best


def _evidence(plan: Plan, collection: Collection) -> tuple[list[_Evidence], list[_Evidence]]:
    """Return the words of `plan`, and its concepts."""
    words = [
        _Evidence(part.weight, groups)
        for part in plan.parts
        if (groups := [pair for group in part.groups for pair in _alternatives(group, collection)])
    ]
    concepts = [
        _Evidence(sum(concept.shares.values()), groups)
        for concept in plan.concepts
        if (
            groups := [
                (terms, weight * group.idf / concept.terms[0].idf)
                for group in concept.terms
                for terms, weight in _alternatives(group, collection)
            ]
        )
    ]
    return words, concepts


def _alternatives(group: TermGroup, collection: Collection) -> Sequence[tuple[Sequence[int], float]]:
    """Return the terms of a group by their hashes: each alone with its weight, or all together."""
    terms = sorted(group.terms.items(), key=lambda pair: -pair[1])[:MAX_ALTERNATIVES]
    hashes = [term_hash(term) for term in collection.vocabulary.strings([number for number, _ in terms])]
    if group.match_all:
        return [(hashes, min(weight for _, weight in terms))] if terms else []
    return [((term,), weight) for term, (_, weight) in zip(hashes, terms, strict=True)]
