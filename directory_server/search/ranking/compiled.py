"""Scores from the compiled engine: those of `coverage`, `feedback` and `scoring`."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence, Set
from functools import partial
from itertools import accumulate, chain
from struct import Struct
from typing import Any

import numpy as np

from ..index import arrays
from ..index.arrays import Bools
from ..index.collection import Collection
from ..index.merging import Postings
from ..index.segment import Segment
from ..query.conditions import LEAST_FACTOR, Condition
from ..query.groups import TermGroup
from ..query.plan import Plan
from . import feedback
from .coverage import LOSS, MAX_RAISED, PRIOR_SHARE, covers

# The structs of the same names in `engine/engine.h`.
_GROUP, _CONCEPT, _PART, _SHARE, _CONDITION = map(Struct, ("diii4x", "iif", "iiiiiff", "if", "QQQfff4x"))


def compiled_scores(plan: Plan, collection: Collection, live: Sequence[Bools]) -> list[Postings]:
    """Return for each segment the matching documents that are `live`, and their scores. Filters are applied later."""
    assert arrays.engine is not None
    found = arrays.engine.scores(**_request(plan, collection, live))
    return [(np.frombuffer(doc_ids, np.int32), np.frombuffer(scores, np.float32)) for doc_ids, scores in found]


def best_scores(
    plan: Plan, collection: Collection, live: Sequence[Bools], count: int, below: float
) -> list[tuple[float, int, int]]:
    """Return the `count` best of those documents with scores of at most `below`: score, segment, number.

    All documents with the score of the last one, or with the score `below`, are added. The best one is the first.
    """
    assert arrays.engine is not None
    found: list[tuple[float, int, int]] = arrays.engine.best(
        **_request(plan, collection, live), count=count, below=below
    )
    return found


def _read_segments(collection: Collection, live: Sequence[Bools]) -> object:
    assert arrays.engine is not None
    table = collection.vocabulary.table
    columns = [segment_columns(segment, is_live) for segment, is_live in zip(collection.segments, live, strict=True)]
    return arrays.engine.segments(columns, table.data, table.offsets)


def segment_columns(segment: Segment, live: Bools) -> Mapping[str, Any]:
    """Return the columns of a segment by the names that the engine has for them."""
    return {
        "starts": segment.lists.starts,
        "doc_ids": segment.lists.doc_ids,
        "impacts": segment.lists.impacts,
        "known": segment.lists.known,
        "live": live,
        "priors": segment.priors,
        "facts": segment.rows.facts,
        "top_terms": segment.top_terms,
        "top_impacts": segment.top_impacts,
        "top_starts": segment.top_starts,
        "described": segment.described,
    }


def _request(plan: Plan, collection: Collection, live: Sequence[Bools]) -> dict[str, Any]:
    """Return the arguments of a search by the engine."""
    return {
        # The result refers to the arrays of `live`, so no others get their ids while it is cached.
        "segments": collection.once((_read_segments, *map(id, live)), partial(_read_segments, collection, live)),
        **plan_columns(plan),
        "prior_share": PRIOR_SHARE,
        "most_raised": MAX_RAISED * plan.query_weight,
        "least_kept": 1 - LOSS,
        "least_factor": LEAST_FACTOR,
        "hits": feedback.FEEDBACK_HITS if plan.allows_feedback else 0,
        "min_hits": feedback.MIN_HITS,
        "min_frequency": feedback.MIN_FREQUENCY,
        "added_terms": feedback.FEEDBACK_TERMS,
        "best": feedback.BEST,
        "min_matches": feedback.MIN_MATCHES,
        "min_letters": feedback.MIN_LETTERS,
        "feedback_share": feedback.FEEDBACK_SHARE,
        "string": collection.vocabulary.string,
        "focused": feedback.FOCUSED if plan.allows_focus else 0,
        "focus": feedback.FOCUS,
    }


def plan_columns(plan: Plan) -> dict[str, Any]:
    """Return the evidence of a plan as arguments of the engine: terms, groups of these, and what consists of groups."""
    groups: list[TermGroup] = []
    concepts, parts = [], []
    shares: list[tuple[int, float]] = []
    for concept in plan.concepts:
        concepts.append(_CONCEPT.pack(len(groups), len(concept.terms), concept.context))
        groups += concept.terms
    for part, (limit, share) in zip(plan.parts, covers(plan), strict=True):
        of_part = _shares(part.stems, plan)
        ranges = len(groups), len(part.groups), len(shares), len(of_part)
        parts.append(_PART.pack(*ranges, part.alternatives, limit, share))
        groups += part.groups
        shares += of_part
    others = len(groups)
    groups += [*plan.others, *plan.exact, *plan.names]
    sizes = [len(group.terms) for group in groups]
    firsts = accumulate(sizes, initial=0)
    return {
        "terms": array("q", chain.from_iterable([group.terms for group in groups])),
        "weights": array("d", chain.from_iterable([group.terms.values() for group in groups])),
        "groups": b"".join(
            [
                _GROUP.pack(group.idf, first, size, group.match_all)
                for group, first, size in zip(groups, firsts, sizes, strict=False)
            ]
        ),
        "concepts": b"".join(concepts),
        "parts": b"".join(parts),
        "shares": b"".join([_SHARE.pack(number, share) for number, share in shares]),
        "conditions": b"".join([_packed(condition) for condition in plan.conditions]),
        "others": others,
        "exact": others + len(plan.others),
        "names": len(groups) - len(plan.names),
    }


def _packed(condition: Condition) -> bytes:
    rewards = condition.reward, condition.partial_reward, condition.penalty
    return _CONDITION.pack(condition.full, condition.partial, condition.contrary, *rewards)


def _shares(stems: Set[str], plan: Plan) -> list[tuple[int, float]]:
    """Return the numbers of the concepts that count for a part with these stems, and what each counts."""
    shares = (
        (number, sum(concept.shares.get(stem, 0.0) for stem in stems)) for number, concept in enumerate(plan.concepts)
    )
    return [(number, share) for number, share in shares if share]
