"""Query plans: the evidence and filters by which documents are scored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from attrs import frozen

from ..index.collection import Collection
from ..index.merging import Postings
from ..index.segment import Segment
from .concepts import concept_evidence
from .names import exact_name_matches, fuzzy_name_matches, prefix_name_matches
from .parsing import ParsedQuery
from .terms import TermGroup, similar_groups, term_groups


class Evidence(Protocol):
    """A part of a query that scores documents."""

    @property
    def label(self) -> str:
        """The part of the query, for explanations."""

    def postings(self, segments: Sequence[Segment]) -> list[Postings]:
        """Return for each of `segments` the matching documents and their scores."""


@frozen
class Plan:
    """How documents are scored for one query.

    `names` are prefix and fuzzy name matches, `evidence` is all else. `query_weight` is the total idf of the words, at
    least 1. `allows_feedback` enables pseudo-relevance feedback. `filters_only` is true for a query without words.
    """

    evidence: Sequence[Evidence]
    names: Sequence[TermGroup]
    query_weight: float
    allows_feedback: bool
    required: Sequence[int | None]
    excluded: Sequence[int]
    phrases: Sequence[str]
    filters_only: bool

    @property
    def has_filters(self) -> bool:
        """Return whether the query has filters, phrases or exclusions."""
        return bool(self.required or self.excluded or self.phrases)


def build_plan(query: ParsedQuery, collection: Collection) -> Plan:
    """Return the plan of `query`."""
    words = term_groups(query, collection)
    query_weight = max(sum(group.idf for group in words), 1.0)
    exact = exact_name_matches(query, collection, query_weight)
    fuzzy = [] if exact else fuzzy_name_matches(query, collection, query_weight)
    names = [*prefix_name_matches(query, collection, query_weight), *fuzzy]
    # A query that is a name is not expanded.
    is_name = 1.0 if exact else _name_ratio(words, collection)
    expanded = concept_evidence(query, collection, query_weight * (1 - is_name))
    evidence: list[Evidence] = [*words, *exact, *expanded]
    if not evidence and not names:
        evidence += similar_groups(query, collection)
    find = collection.vocabulary.find
    return Plan(
        evidence,
        names,
        query_weight,
        # Feedback terms are English, and would rank the few entries in other scripts lower.
        not exact and not query.has_filters and all(word.spaced for word in query.words),
        [find(term) for term in query.required],
        [term for word in query.excluded if (term := find(word)) is not None],
        query.phrases,
        filters_only=query.has_filters and not query.words,
    )


def _name_ratio(words: Sequence[TermGroup], collection: Collection) -> float:
    terms = [term for group in words for term in group.terms]
    return collection.name_ratio(terms, [weight for group in words for weight in group.terms.values()])
