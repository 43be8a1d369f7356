"""Scores from the compiled module: those of `coverage`, `feedback`, `focus` and `scoring`."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import partial

import numpy as np

from ..index import arrays
from ..index.arrays import Bools
from ..index.collection import Collection
from ..index.merging import Postings
from ..query.conditions import LEAST_FACTOR
from ..query.groups import TermGroup
from ..query.plan import Plan
from .coverage import LOSS, MAX_RAISED, PRIOR_SHARE, covers
from .feedback import (
    BEST,
    FEEDBACK_HITS,
    FEEDBACK_SHARE,
    FEEDBACK_TERMS,
    MIN_FREQUENCY,
    MIN_HITS,
    MIN_LETTERS,
    MIN_MATCHES,
)
from .focus import FOCUS, FOCUSED


def compiled_scores(plan: Plan, collection: Collection, live: Sequence[Bools]) -> list[Postings]:
    """Return for each segment the matching documents that are `live`, and their scores. Filters are applied later."""
    module = arrays.ranking
    assert module is not None
    found = module.scores(_segments(collection, live), *_columns(plan, collection))
    return [(np.frombuffer(doc_ids, np.int32), np.frombuffer(scores, np.float32)) for doc_ids, scores in found]


def best_scores(
    plan: Plan, collection: Collection, live: Sequence[Bools], count: int, below: float
) -> list[tuple[float, int, int]]:
    """Return the `count` best of those documents with scores of at most `below`: score, segment, number.

    All documents with the score of the last one, or with the score `below`, are added. The best one is the first.
    """
    module = arrays.ranking
    assert module is not None
    found: list[tuple[float, int, int]] = module.best(
        _segments(collection, live), *_columns(plan, collection), count, below
    )
    return found


def _segments(collection: Collection, live: Sequence[Bools]) -> object:
    """Return the segments of a collection as the compiled module has read them."""
    # The result refers to the arrays of `live`, so no others get their ids while it is cached.
    return collection.once((_segments, *map(id, live)), partial(_read_segments, collection, live))


def _read_segments(collection: Collection, live: Sequence[Bools]) -> object:
    module, table = arrays.ranking, collection.vocabulary.table
    assert module is not None
    columns = [
        (
            *(*segment.lists.columns, is_live, segment.priors, segment.rows.facts),
            *(segment.top_terms, segment.top_impacts, segment.top_starts, segment.described),
        )
        for segment, is_live in zip(collection.segments, live, strict=True)
    ]
    return module.segments(columns, table.data, table.offsets)


def _columns(plan: Plan, collection: Collection) -> tuple[object, object, object]:
    """Return a plan, and the numbers of its feedback and its focus, as the compiled module reads them."""
    columns = (
        [(_groups(each.terms), each.context) for each in plan.concepts],
        [
            (_groups(part.groups), part.alternatives, limit, covered, _shares(part.stems, plan))
            for part, (limit, covered) in zip(plan.parts, covers(plan), strict=True)
        ],
        _groups(plan.others),
        _groups(plan.exact),
        _groups(plan.names),
        [each.columns for each in plan.conditions],
        PRIOR_SHARE,
        MAX_RAISED * plan.query_weight,
        1 - LOSS,
        LEAST_FACTOR,
    )
    feedback = None
    if plan.allows_feedback:
        limits_of_terms = FEEDBACK_HITS, MIN_HITS, MIN_FREQUENCY, FEEDBACK_TERMS
        feedback = *limits_of_terms, FEEDBACK_SHARE, BEST, MIN_MATCHES, MIN_LETTERS, collection.vocabulary.string
    return columns, feedback, (FOCUSED, FOCUS) if plan.allows_focus else None


def _groups(groups: Sequence[TermGroup]) -> list[tuple[object, float, bool]]:
    return [(group.terms, group.idf, group.match_all) for group in groups]


def _shares(stems: Set[str], plan: Plan) -> list[tuple[int, float]]:
    """Return the numbers of the concepts that count for a part with these stems, and what each counts."""
    shares = ((number, sum(each.shares.get(stem, 0.0) for stem in stems)) for number, each in enumerate(plan.concepts))
    return [(number, share) for number, share in shares if share]
