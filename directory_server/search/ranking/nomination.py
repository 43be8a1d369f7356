"""Nomination: claims of publishers propose entries for a weak match, and the texts of the entries decide.

What a claim says, and how often, has no part in the place of its entry. An entry fills an empty place, or gets that of
another one: then its own text is among the best matches, and more like the query than the text of the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..index.arrays import Bools
from ..index.claims import LEAST_LIKENESS
from ..index.collection import Collection
from ..query.plan import Plan, claims_plan
from .likeness import projections
from .scoring import PINNED_SCORE, Best, Ranked, ranked_documents
from .strength import KEPT

NOMINATED = 50
"""Entries that claims may propose: those whose claims have most of the query, and those that match it best by text."""


def with_nominees(
    plan: Plan, meaning: bytes, collection: Collection, live: Sequence[Bools], best: Best
) -> list[Ranked]:
    """Return the first hits of `best` with entries whose claims have words of `plan`, at most KEPT.

    These come last. The text of each has a cosine of at least LEAST_LIKENESS with `meaning`, the vector of the query.
    """
    matches = best(NOMINATED, None)
    first, behind = matches[:KEPT], {hit[1:] for hit in matches[KEPT:]}
    known = {hit[1:] for hit in first}
    claiming = ranked_documents(claims_plan(plan, collection), collection, live, (), NOMINATED, None)
    others = [hit for hit in claiming if hit[1:] not in known]
    if not others:
        return first
    values = _cosines(meaning, collection, [*first, *others])
    kept, entering = [*zip(values, first, strict=False)], list[Ranked]()
    for value, hit in sorted(zip(values[len(first) :], others, strict=True), reverse=True):
        if value < LEAST_LIKENESS:
            break
        if len(kept) + len(entering) == KEPT:
            place = _last_below(value, kept) if hit[1:] in behind else None
            if place is None:
                continue
            kept.pop(place)
        entering.append(hit)
    least = min((score for _, (score, _, _) in kept), default=1.0)
    return [*(hit for _, hit in kept), *((least, number, doc_id) for _, number, doc_id in entering)]


def _last_below(value: float, hits: Sequence[tuple[float, Ranked]]) -> int | None:
    """Return the place of the last of `hits` that is less like the query than `value`, and not pinned."""
    below = (at for at, (likeness, hit) in enumerate(hits) if likeness < value and hit[0] < PINNED_SCORE)
    return max(below, default=None)


def _cosines(meaning: bytes, collection: Collection, hits: Sequence[Ranked]) -> list[float]:
    length = float(np.linalg.norm(np.frombuffer(meaning, np.int8).astype(np.float64)))
    cosines: list[float] = (projections(meaning, collection.segments, hits) / max(length, 1.0)).tolist()
    return cosines
