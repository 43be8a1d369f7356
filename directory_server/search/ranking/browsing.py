"""Browsing: the order of matches by stars or dates, and the summary of all matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from ...domain.entries import mcp_id_of
from ...domain.filters import KINDS
from ...domain.kinds import SERVER
from ...domain.search import FacetValue, Position, Query, Summary
from ..index.arrays import Bools, Doubles, Longs, Sets
from ..index.facets import UNKNOWN_STARS, facet
from ..index.segment import key_of
from ..index.view import View
from ..text import stem, tokens
from .ranking import PINNED_SCORE, Ranking
from .strength import KEPT

CLOSE, CLOSE_RANK = 0.3, 10
"""Matches that are sorted by stars or dates have at least this share of the score of the match at this rank: a famous
server that barely matches must not come first. The best score would be no measure, because it may be that of a name."""

SHOWN_VALUES = 24
"""Values of a filter in a summary: those with the most matches."""


def close_matches(ranking: Ranking) -> Longs:
    """Return the documents of a ranking that match nearly as well as the best ones, see CLOSE. Pins do not count."""
    ranking.complete()
    close: Longs = ranking.docs[_are_close(ranking.scores)]
    return close


def count_close(ranking: Ranking) -> int:
    """Return the number of the close matches, without ordering them all."""
    behind = ranking.rest_scores() if len(ranking.docs) < len(ranking.matched) else ()
    return int(np.count_nonzero(_are_close(np.concatenate([ranking.scores, behind]))))


def _are_close(scores: Doubles) -> Bools:
    scores = np.where(scores >= PINNED_SCORE, scores - PINNED_SCORE, scores)
    least = CLOSE * float(np.partition(scores, -CLOSE_RANK)[-CLOSE_RANK]) if len(scores) > CLOSE_RANK else 0.0
    are_close: Bools = scores >= least
    return are_close


def recent(view: View, docs: Longs, query: Query) -> Longs:
    """Return those of `docs` that were updated in the hour `since` of a query, or later."""
    return docs[view.column("updated", docs) >= query.since] if query.since else docs


def sorted_page(view: View, docs: Longs, query: Query) -> tuple[Longs, Doubles]:
    """Return one more of `docs` than `query` asks for, in its order, and their values; equal ones by the hash of ids.

    Names, of which thousands may be equal in stars, would have to be read from the records.
    """
    if query.sort == "name":
        return _page_by_name(view, docs, query)
    values = _values(view, docs, query)
    keys = view.column("keys", docs)
    if query.after is not None:
        behind = _is_behind(query.after, values, keys)
        docs, values, keys = docs[behind], values[behind], keys[behind]
    limit = query.end + 1
    if len(values) > limit:
        # All that equal the last one, of which the hash decides.
        kept = values >= np.partition(values, -limit)[-limit]
        docs, values, keys = docs[kept], values[kept], keys[kept]
    order = np.lexsort((keys, -values))[query.offset : limit]
    return docs[order], values[order]


def _page_by_name(view: View, docs: Longs, query: Query) -> tuple[Longs, Doubles]:
    last = "" if query.after is None else query.after.name
    named = sorted((name, doc) for doc in docs.tolist() if (name := view.name(doc)) > last)
    page = np.array([doc for _, doc in named[query.offset : query.end + 1]], np.int64)
    return page, np.zeros(len(page))


def _values(view: View, docs: Longs, query: Query) -> Doubles:
    """Return what `docs` are sorted by, the greatest first."""
    if query.sort == "stars":
        stars: Doubles = (view.column("stars", docs) + (1 - UNKNOWN_STARS)).astype(np.float64)
        return stars
    hours = view.column("updated", docs)
    return np.where(hours > query.until, 0, hours).astype(np.float64) + 1


def _is_behind(after: Position, values: Doubles, keys: Sets) -> Bools:
    key = np.uint64(key_of(mcp_id_of(after.name)))
    is_behind: Bools = (values < after.score) | ((values == after.score) & (keys > key))
    return is_behind


def summary(ranking: Ranking, matched: Longs, close: int) -> Summary:
    """Return the summary of the documents `matched` of a ranking, of which `close` are close."""
    view = ranking.view
    is_match = np.zeros(len(view.boosts), bool)
    is_match[matched] = True
    counts = {kind.name: _counts(kind.name, kind.counted, view, is_match) for kind in KINDS if kind.counted}
    if others := counts["kind"]:
        servers = len(matched) - sum(value.count for value in others)
        counts["kind"] = [*([FacetValue(SERVER, servers)] if servers else []), *others]
    shown = {
        name: sorted(values, key=lambda value: -value.count)[:SHOWN_VALUES] for name, values in counts.items() if values
    }
    return Summary(len(matched), close, shown, partial(_namespaces, view, matched), corrected_words(ranking))


def _counts(name: str, values: Sequence[str], view: View, is_match: Bools) -> list[FacetValue]:
    counts = [(value, int(np.count_nonzero(is_match[view.having([facet(name, value)])]))) for value in values]
    return [FacetValue(value, count) for value, count in counts if count]


def _namespaces(view: View, matched: Longs) -> Sequence[FacetValue]:
    """Return the namespaces of `matched` with their numbers, the most frequent first, then by name."""
    counts = Counter(view.name(doc).rpartition("/")[0] for doc in matched.tolist())
    return [FacetValue(name, count) for name, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))]


def corrected_words(ranking: Ranking) -> Mapping[str, str]:
    """Return the words of a query that no entry has, and those of the first hits by which they were found instead."""
    best = {word.text: max(word.rows, key=lambda row: row[2]) for word in ranking.plan.words if word.is_corrected}
    if not best:
        return {}
    texts = ranking.view.items("phrases", ranking.docs[:KEPT])
    # Terms are stems: people read words.
    words = {stem(word): word for text in texts[::-1] for word in tokens(text.decode("utf-8", "replace"))}
    return {text: words[row[0]] for text, row in best.items() if row[0] in words}
