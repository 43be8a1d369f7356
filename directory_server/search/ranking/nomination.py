"""Nomination: claims of publishers propose entries for the empty places of a weak match.

What a claim says, and how often, moves no entry that matches by its own text: nominated entries come last, in places
that no match has. The text of each is like the query.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..index.arrays import Bools
from ..index.claims import LEAST_LIKENESS
from ..index.collection import Collection
from ..query.plan import Plan, claims_plan
from .likeness import projections
from .scoring import Ranked, ranked_documents
from .strength import KEPT

NOMINATED = 50
"""Entries that claims may propose: those whose claims have most of the query."""


def with_nominees(
    plan: Plan, meaning: bytes, collection: Collection, live: Sequence[Bools], first: Sequence[Ranked]
) -> list[Ranked]:
    """Return `first` with entries whose claims have words of `plan`, the most like the query first, at most KEPT.

    The text of each has a cosine of at least LEAST_LIKENESS with `meaning`, the vector of the query.
    """
    if len(first) >= KEPT:
        return [*first]
    known = {hit[1:] for hit in first}
    claiming = ranked_documents(claims_plan(plan, collection), collection, live, (), NOMINATED, None)
    others = [hit for hit in claiming if hit[1:] not in known]
    if not others:
        return [*first]
    length = max(float(np.linalg.norm(np.frombuffer(meaning, np.int8).astype(np.float64))), 1.0)
    cosines = (projections(meaning, collection.segments, others) / length).tolist()
    ranked = sorted((pair for pair in zip(cosines, others, strict=True) if pair[0] >= LEAST_LIKENESS), reverse=True)
    least = min((score for score, _, _ in first), default=1.0)
    return [*first, *((least, number, doc_id) for _, (_, number, doc_id) in ranked)][:KEPT]
