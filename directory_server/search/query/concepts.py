"""Query expansion by concepts: everyday words in a query are expanded to the terms of servers (see `thesaurus`)."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from attrs import frozen

from ..index.collection import Collection
from ..index.merging import Postings, add_up, scaled
from ..index.segment import Segment
from ..text.thesaurus import Concept
from .parsing import ParsedQuery
from .terms import TermGroup

CONCEPT_SHARE = 0.75
"""The score of the best document for a concept, as a share of the query weight."""

TERM_DECAY = 0.7
"""The weight of each further term of a concept, relative to the one before it."""

MAX_CONCEPTS = 8
"""Concepts that one query is expanded to."""


@frozen
class ConceptEvidence:
    """The terms of one concept, scored as a query of their own; the best document gets `max_score`."""

    label: str
    terms: Sequence[TermGroup]
    max_score: float

    def postings(self, segments: Sequence[Segment]) -> list[Postings]:
        """Return for each of `segments` the documents that match the concept, and their scores."""
        every = [group.postings(segments) for group in self.terms]
        totals = [add_up([each[number] for each in every], len(segment)) for number, segment in enumerate(segments)]
        return scaled(totals, self.max_score)


def concept_evidence(query: ParsedQuery, collection: Collection, query_weight: float) -> list[ConceptEvidence]:
    """Return the evidence of the concepts in `query`. A `query_weight` of 0 gives none."""
    concepts = collection.thesaurus.concepts(query.words)[:MAX_CONCEPTS]
    expanded = {concept.name: _terms(concept, collection) for concept in concepts}
    known = {name: terms for name, terms in expanded.items() if terms}
    if not query_weight:
        return []
    max_score = CONCEPT_SHARE * query_weight / sqrt(max(len(known), 1))
    return [ConceptEvidence(f"concept {name}", terms, max_score) for name, terms in known.items()]


def _terms(concept: Concept, collection: Collection) -> Sequence[TermGroup]:
    find = collection.vocabulary.find
    found = []
    for position, words in enumerate(concept.terms):
        terms = [term for word in words if (term := find(word)) is not None]
        counts = collection.document_frequencies(terms)
        if len(terms) == len(words) and all(counts):
            # Two words together are at least as rare as the rarer one.
            idf = collection.idf(min(counts)) * TERM_DECAY**position
            found.append(TermGroup(" ".join(words), dict.fromkeys(terms, 1.0), idf, match_all=True))
    return found
