"""Browsing: the order of matches by stars or dates, and the summary of all matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from attrs import frozen

from ...domain.entries import mcp_id_of
from ...domain.filters import FACETS
from ...domain.search import FacetValue, Position, Query, Summary
from ..index.arrays import Bools, Floats, Ints, Sets
from ..index.collection import Collection
from ..index.facets import UNKNOWN_STARS, facet
from ..index.merging import NO_POSTINGS, Postings
from ..index.rows import key_of
from ..index.segment import Segment
from ..query.plan import Plan
from ..query.spelling import nearest
from .coverage import top_k
from .scoring import PINNED_SCORE, Ranked

CLOSE, CLOSE_RANK = 0.3, 10
"""Matches that are sorted by stars or dates have at least this share of the score of the match at this rank: a famous
server that barely matches must not come first. The best score would be no measure, because it may be that of a name."""

SHOWN_VALUES = 24
"""Values of a filter in a summary: those with the most matches."""


@frozen(eq=False)
class Facets:
    """The values of filters whose matches are counted, each with its term in `collection`."""

    values: Sequence[tuple[str, str, int]]

    @classmethod
    def of(cls, collection: Collection) -> Facets:
        """Return the values that `collection` has."""
        every = [(name, value) for name, values in FACETS.items() for value in values]
        find = collection.vocabulary.find
        return cls([(name, value, term) for name, value in every if (term := find(facet(name, value))) is not None])


def with_phrases(plan: Plan, segments: Sequence[Segment], scored: Sequence[Postings]) -> list[Postings]:
    """Return those of `scored` that have all phrases. It reads the texts of all of them."""
    found = []
    for segment, (doc_ids, scores) in zip(segments, scored, strict=True):
        matches = segment.rows.having(doc_ids, plan.phrases)
        found.append((doc_ids[matches], scores[matches]))
    return found


def close_matches(scored: Sequence[Postings]) -> list[Postings]:
    """Return those of `scored` that match nearly as well as the best ones, see CLOSE. Pins do not count."""
    plain = [(doc_ids, np.where(scores >= PINNED_SCORE, scores - PINNED_SCORE, scores)) for doc_ids, scores in scored]
    every = np.concatenate([NO_POSTINGS[1], *(scores for _, scores in plain)])
    if len(every) <= CLOSE_RANK:
        return plain
    least = np.float32(CLOSE) * np.partition(every, -CLOSE_RANK)[-CLOSE_RANK]
    return [(doc_ids[scores >= least], scores[scores >= least]) for doc_ids, scores in plain]


def sorted_documents(segments: Sequence[Segment], matches: Sequence[Postings], query: Query) -> list[Ranked]:
    """Return one more of `matches` than `query` reaches, in its order; equal ones by the hash of their ids.

    Names, of which thousands may be equal in stars, would have to be read from the records.
    """
    numbers = np.repeat(np.arange(len(matches)), [len(doc_ids) for doc_ids, _ in matches])
    doc_ids = np.concatenate([NO_POSTINGS[0], *(doc_ids for doc_ids, _ in matches)])
    pairs = list(zip(segments, matches, strict=True))
    values = np.concatenate([NO_POSTINGS[1], *(_values(segment, ids, query) for segment, (ids, _) in pairs)])
    keys = np.concatenate([np.empty(0, np.uint64), *(segment.rows.keys[ids] for segment, (ids, _) in pairs)])
    if query.after is not None:
        behind = _is_behind(query.after, values, keys)
        numbers, doc_ids, values, keys = numbers[behind], doc_ids[behind], values[behind], keys[behind]
    chosen = top_k(values, query.end + 1)
    chosen = chosen[np.lexsort((keys[chosen], -values[chosen]))][: query.end + 1]
    return list(zip(values[chosen].tolist(), numbers[chosen].tolist(), doc_ids[chosen].tolist(), strict=True))


def _values(segment: Segment, doc_ids: Ints, query: Query) -> Floats:
    """Return what `doc_ids` are sorted by, the greatest first; at least 1, because `top_k` ignores 0."""
    if query.sort == "stars":
        return (segment.rows.stars[doc_ids] + (1 - UNKNOWN_STARS)).astype(np.float32)
    hours = segment.rows.updated[doc_ids]
    return (np.where(hours > query.until, 0, hours) + 1).astype(np.float32)


def _is_behind(after: Position, values: Floats, keys: Sets) -> Bools:
    score, key = np.float32(after.score), np.uint64(key_of(mcp_id_of(after.name)))
    behind: Bools = (values < score) | ((values == score) & (keys > key))
    return behind


def summary(facets: Facets, segments: Sequence[Segment], matches: Sequence[Postings]) -> Summary:
    """Return the summary of `matches`. Its cost depends on the entries that have the values, not on the matches."""
    counts = np.zeros(len(facets.values), np.int64)
    for segment, (doc_ids, _) in zip(segments, matches, strict=True):
        if not len(doc_ids):
            continue
        is_match = np.zeros(len(segment), bool)
        is_match[doc_ids] = True
        for place, (_, _, term) in enumerate(facets.values):
            having = segment.lists.documents_with(term)
            if len(having):
                counts[place] += np.count_nonzero(is_match[having])
    found: dict[str, list[FacetValue]] = {}
    for (name, value, _), count in zip(facets.values, counts.tolist(), strict=True):
        if count:
            found.setdefault(name, []).append(FacetValue(value, count))
    shown = {name: sorted(values, key=lambda one: -one.count)[:SHOWN_VALUES] for name, values in found.items()}
    return Summary(sum(len(doc_ids) for doc_ids, _ in matches), shown, partial(_namespaces, segments, matches))


def _namespaces(segments: Sequence[Segment], matches: Sequence[Postings]) -> Sequence[FacetValue]:
    """Return the namespaces of `matches` with their numbers, the most frequent first, then by name."""
    counts = Counter(
        segment.rows.name(doc_id).rpartition("/")[0]
        for segment, (doc_ids, _) in zip(segments, matches, strict=True)
        for doc_id in doc_ids.tolist()
    )
    return [FacetValue(name, count) for name, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))]


def corrected_words(plan: Plan, collection: Collection, live: Sequence[Bools]) -> Mapping[str, str]:
    """Return the words of a query that no entry has, and those by which its matches were found instead.

    Words that only documents have which are not `live` are left out.
    """
    words = [part.groups[0].label for part in plan.parts if part.is_corrected]
    corrected = {word: other for word in words if (other := nearest(word, collection))}
    return {word: other for word, other in corrected.items() if _is_in(collection.term(other), collection, live)}


def _is_in(term: int | None, collection: Collection, live: Sequence[Bools]) -> bool:
    """Return whether a live document has `term`."""
    return term is not None and any(
        is_live[segment.lists.documents_with(term)].any()
        for segment, is_live in zip(collection.segments, live, strict=True)
    )
