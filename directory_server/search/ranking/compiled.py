"""Scores from the compiled module: those of `coverage`, `feedback`, `focus` and `scoring`."""

from __future__ import annotations

from collections.abc import Sequence, Set
from types import ModuleType

import numpy as np

from ..index import arrays
from ..index.arrays import Bools
from ..index.collection import Collection
from ..index.merging import Postings
from ..query.conditions import LEAST_FACTOR
from ..query.groups import TermGroup
from ..query.plan import Plan
from .coverage import LOSS, MAX_RAISED, PRIOR_SHARE, growth_of, limits
from .feedback import BEST, FEEDBACK_HITS, FEEDBACK_SHARE, MIN_FREQUENCY, MIN_HITS, MIN_MATCHES, first_words
from .focus import FOCUS, FOCUSED


def compiled_scores(plan: Plan, collection: Collection, live: Sequence[Bools]) -> list[Postings]:
    """Return for each segment the matching documents that are `live`, and their scores. Filters are applied later."""
    module, state = _scored(plan, collection, live)
    return [
        (np.frombuffer(doc_ids, np.int32), np.frombuffer(scores, np.float32))
        for doc_ids, scores in module.results(state)
    ]


def best_scores(
    plan: Plan, collection: Collection, live: Sequence[Bools], count: int, below: float
) -> list[tuple[float, int, int]]:
    """Return the `count` best of those documents with scores of at most `below`, in any order: score, segment, number.

    All documents with the score of the last one, or with the score `below`, are added.
    """
    module, state = _scored(plan, collection, live)
    found: list[tuple[float, int, int]] = module.best(state, count, below)
    return found


def _scored(plan: Plan, collection: Collection, live: Sequence[Bools]) -> tuple[ModuleType, object]:
    """Return the compiled module, and its state with the scores of a plan."""
    module = arrays.ranking
    assert module is not None
    segments = [
        (*segment.lists.columns, is_live, segment.priors, segment.rows.facts)
        for segment, is_live in zip(collection.segments, live, strict=True)
    ]
    covered = limits(plan)
    state, count = module.match(
        segments,
        [(_groups(each.terms), each.context) for each in plan.concepts],
        [
            (_groups(part.groups), part.alternatives, limit, _shares(part.stems, plan))
            for part, limit in zip(plan.parts, covered, strict=True)
        ],
        _groups(plan.others),
        _groups(plan.exact),
        _groups(plan.names),
        [each.columns for each in plan.conditions],
        PRIOR_SHARE,
        MAX_RAISED * plan.query_weight,
        1 - LOSS,
        growth_of(covered) if covered else 0.0,
        LEAST_FACTOR,
    )
    tops = [(each.top_terms, each.top_impacts, each.top_starts, each.described) for each in collection.segments]
    if plan.allows_feedback:
        found = module.shared(state, segments, tops, FEEDBACK_HITS, MIN_HITS, MIN_FREQUENCY, collection.size)
        if found and (terms := first_words(found[1], collection)):
            module.add(state, segments, terms, FEEDBACK_SHARE * found[0], BEST if count >= MIN_MATCHES else 0)
    if plan.allows_focus:
        module.focus(state, segments, tops, FOCUSED, FOCUS, collection.size)
    return module, state


def _groups(groups: Sequence[TermGroup]) -> list[tuple[object, float, bool]]:
    return [(group.terms, group.idf, group.match_all) for group in groups]


def _shares(stems: Set[str], plan: Plan) -> list[tuple[int, float]]:
    """Return the numbers of the concepts that count for a part with these stems, and what each counts."""
    shares = ((number, sum(each.shares.get(stem, 0.0) for stem in stems)) for number, each in enumerate(plan.concepts))
    return [(number, share) for number, share in shares if share]
