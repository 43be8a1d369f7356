"""Reasons of hits: the concepts and conditions of a query that each hit matches, for those who choose among them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_

import numpy as np

from ..index.arrays import Bools, Ints
from ..index.merging import contains
from ..index.segment import Segment
from ..query.concepts import ConceptEvidence
from ..query.plan import Plan
from .scoring import Ranked

MAX_REASONS = 3
"""Concepts and conditions in the reason of a hit."""


def reasons(plan: Plan, segments: Sequence[Segment], hits: Sequence[Ranked]) -> Sequence[str]:
    """Return for each of `hits` the concepts and conditions that it matches, as text; empty if no hit has any.

    The words of the query themselves are no reason: the reader knows them.
    """
    concepts = [each for each in plan.concepts if plan.words.isdisjoint(each.name.split())]
    if not concepts and not plan.conditions:
        return ()
    found: list[list[str]] = [[] for _ in hits]
    for number, segment in enumerate(segments):
        places = [place for place, (_, of, _) in enumerate(hits) if of == number]
        if places:
            doc_ids = np.array([hits[place][2] for place in places], np.int32)
            labels = [(each.name, _has_concept(each, segment, doc_ids)) for each in concepts]
            facts = segment.rows.facts[doc_ids]
            labels += [(each.label, each.satisfied_by(facts)) for each in plan.conditions]
            for label, matches in labels:
                for position in np.flatnonzero(matches).tolist():
                    found[places[position]].append(label)
    texts = [", ".join(each[:MAX_REASONS]) for each in found]
    return texts if any(texts) else ()


def _has_concept(concept: ConceptEvidence, segment: Segment, doc_ids: Ints) -> Bools:
    """Return which of `doc_ids` have all words of one of the terms of a concept."""
    found = np.zeros(len(doc_ids), bool)
    for group in concept.terms:
        found |= reduce(and_, [contains(segment.lists.documents_with(term), doc_ids) for term in group.terms])
    return found
