"""Query expansion by concepts: everyday words in a query are expanded to the terms of servers (see `thesaurus`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import sqrt

from attrs import frozen

from ..index.collection import Collection
from ..index.merging import Postings, add_up, scaled
from ..index.segment import Segment
from ..text.analysis import Word, stem
from ..text.thesaurus import Concept, Match, singular
from .parsing import ParsedQuery
from .terms import STOP_WORDS, TermGroup

CONCEPT_SHARE = 0.75
"""The greatest score of the best document for a concept, as a share of the query weight."""

CONTEXT_SHARE = 0.25
"""The part of the weight of the other words of the query that a concept gets."""

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
    """Return the evidence of the concepts in `query`. A `query_weight` of 0 gives none.

    A concept is worth the words of its expressions, and a part of the others, at most CONCEPT_SHARE of `query_weight`.
    """
    if not query_weight:
        return []
    matches = collection.thesaurus.matches(query.words)[:MAX_CONCEPTS]
    expanded = [(match, terms) for match in matches if (terms := _terms(match.concept, collection))]
    weights = _expression_weights([match for match, _ in expanded], query, collection)
    return [
        ConceptEvidence(f"concept {match.concept.name}", terms, _max_score(weight, query_weight))
        for (match, terms), weight in zip(expanded, weights, strict=True)
    ]


def _max_score(weight: float, query_weight: float) -> float:
    return min(weight + CONTEXT_SHARE * max(query_weight - weight, 0), CONCEPT_SHARE * query_weight)


def _expression_weights(matches: Sequence[Match], query: ParsedQuery, collection: Collection) -> Iterator[float]:
    """Yield for each match the total idf of the tokens of its expressions. Matches with a common token share its idf.

    A token that no document has is as rare as a token can be: nothing else in the query is clearer. Stop words count 0.
    """
    tokens = [_tokens(match, query) for match in matches]
    shared_by = Counter(token for each in tokens for token in each)
    for each in tokens:
        yield sum(_idf(token, collection) / sqrt(shared_by[token]) for token in sorted(each))


def _tokens(match: Match, query: ParsedQuery) -> set[str]:
    """Return the words of the query that are in the expressions of a match, one for each stem, and their bigrams."""
    by_stem = {singular(part): part for word in query.words if word.spaced for part in word.parts}
    words = {by_stem[each] for each in match.stems}
    return (words - STOP_WORDS or words) | {
        token for piece in match.pieces for token in Word((piece,), spaced=False).tokens
    }


def _idf(token: str, collection: Collection) -> float:
    term = collection.vocabulary.find(stem(token))
    frequency = collection.document_frequency(term) if term is not None else 0
    # A bigram is as rare as among the documents of its scripts, as in `term_groups`.
    is_bigram = frequency and not token.isascii() and len(token) <= 2
    return collection.idf(frequency, collection.lexicon.size if is_bigram else None)


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
