"""Query expansion by concepts: everyday words in a query are expanded to the terms of servers (see `thesaurus`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from math import inf, sqrt

import numpy as np
from attrs import frozen

from ..index.collection import Collection
from ..index.merging import Postings, add_up, scaled
from ..index.segment import Segment
from ..text.analysis import COMMON_PARTS, Word, stem
from ..text.thesaurus import Concept, Match, singular
from .exclusions import STOP_WORDS
from .groups import TermGroup
from .parsing import ParsedQuery
from .translation import NOTHING, Translation

CONTEXT_SHARE = 0.2
"""The part of the weight of the other words of the query that a concept gets."""

TELLING = 7.25
"""The rarity (idf) from which a word tells the topic of a query: 18 entries of 26,000 have it."""

TERM_DECAY = 0.85
"""The weight of each further term of a concept, relative to the one before it."""

MAX_SHORT = 3
"""English words of a translated query in which one word of the lexicon may ask for a concept, but for no topic."""

MAX_CONCEPTS = 8
"""Concepts that one query is expanded to."""


@frozen
class ConceptEvidence:
    """The terms of one concept, scored as a query of their own.

    The best document gets `shares` for the words of the expressions, by their stems, and `context` for other words.
    """

    name: str
    terms: Sequence[TermGroup]
    shares: Mapping[str, float]
    context: float

    @property
    def label(self) -> str:
        """The part of the query, for explanations."""
        return f"concept {self.name}"

    @property
    def max_score(self) -> float:
        """The score of the best document."""
        return sum(self.shares.values()) + self.context

    def postings(self, segments: Sequence[Segment]) -> list[Postings]:
        """Return for each of `segments` the documents that match the concept, and their scores: 1 for the best.

        The square root brings the others closer to it: an entry with a few of the terms is for the concept, too.
        """
        every = [group.postings(segments) for group in self.terms]
        totals = [
            add_up([postings[number] for postings in every], len(segment)) for number, segment in enumerate(segments)
        ]
        return [(doc_ids, np.sqrt(scores)) for doc_ids, scores in scaled(totals, 1.0)]


@frozen
class Expansion:
    """A concept that a query asks for, its terms, and the stems of the words of the query that ask for it."""

    name: str
    stems: Sequence[str]
    terms: Sequence[TermGroup]


def expansions(query: ParsedQuery, translation: Translation, collection: Collection) -> list[Expansion]:
    """Return the concepts of which `query` or its `translation` has an expression, and `collection` a term."""
    words, ignored = [*query.words], translation.ignored
    if ignored:
        words = [word for word in words if not (word.spaced and ignored >= {*word.parts})]
    found_in_words = [match for match in collection.thesaurus.matches(words) if not _is_request(match, words)]
    matches = {match.concept: match for match in found_in_words}
    if translation is not NOTHING:
        english = translation.unexpanded([*matches.values()])
        words += english
        certain = [match for match in translation.matches if not match.is_general] if len(english) <= MAX_SHORT else []
        single = {singular(part) for match in certain for part in match.senses[0][0]}
        for match in collection.thesaurus.matches(english):
            # Other single words are too uncertain.
            if len(match.stems) > 1 or (match.stems <= single and not match.concept.is_topic):
                matches.setdefault(match.concept, match)
    found = [
        Expansion(concept.name, _stems(match, words), collection.once(concept, partial(_terms, concept, collection)))
        for concept, match in [*matches.items()][:MAX_CONCEPTS]
    ]
    found = [expansion for expansion in found if expansion.terms]
    return [expansion for expansion in found if not any(_explains(other, expansion, collection) for other in found)]


def _is_request(match: Match, query: Sequence[Word]) -> bool:
    """Return whether the words that ask for a concept only ask for servers, whose topic is in other words of the query.

    "find a server for invoices" does not ask for registries of servers.
    """
    if match.pieces or COMMON_PARTS.isdisjoint(match.stems) or not match.stems <= STOP_WORDS:
        return False
    parts = [part for word in query if word.spaced for part in word.parts]
    return any(part not in STOP_WORDS and singular(part) not in STOP_WORDS for part in parts)


def _explains(one: Expansion, other: Expansion, collection: Collection) -> bool:
    """Return whether the words that ask for `other` are terms of `one`, which other words ask for.

    "agriculture and crops" does not ask for the cropping of images. A concept named by its words stays, and so do two
    that explain each other.
    """
    if one is other or not set(one.stems).isdisjoint(other.stems):
        return False
    of_one, of_other = ({term for group in expansion.terms for term in group.terms} for expansion in (one, other))
    asks_one, asks_other = ({collection.find(stem) for stem in expansion.stems} for expansion in (one, other))
    return of_one >= asks_other and not of_other >= asks_one and asks_other.isdisjoint(other.terms[0].terms)


def concept_evidence(
    expanded: Sequence[Expansion],
    collection: Collection,
    query_weight: float,
    factor: float,
    rarest: float,
    translated: Mapping[str, float],
) -> list[ConceptEvidence]:
    """Return the evidence of the concepts of a query. A `factor` of 0 gives none.

    A concept is worth `factor` times the rarity of the words that ask for it, which `translated` limits: a word is at
    most as rare as its translation. Concepts share that of a common word.
    `rarest` is the rarity of the rarest word that no concept knows. If it tells the topic, a concept of commoner words
    gets nothing for other words. One word asks for no concept then: it may have another sense ("restart the unit").
    """
    shared_by = Counter(term for expansion in expanded for term in expansion.stems)
    found = []
    for expansion in expanded if factor else ():
        own = {term: factor * min(word_idf(term, collection), translated.get(term, inf)) for term in expansion.stems}
        has_topic = rarest >= TELLING and factor * rarest > max(own.values())
        if has_topic and len(own) == 1:
            continue
        context = 0.0 if has_topic else CONTEXT_SHARE * max(factor * query_weight - sum(own.values()), 0)
        shares = {term: weight / sqrt(shared_by[term]) for term, weight in own.items()}
        found.append(ConceptEvidence(expansion.name, expansion.terms, shares, context))
    return found


def _stems(match: Match, query: Sequence[Word]) -> Sequence[str]:
    """Return the stems of the words of a query that are in the expressions of a match, and their bigrams."""
    by_stem = {singular(part): part for word in query if word.spaced for part in word.parts}
    words = {by_stem[part] for part in match.stems}
    words = (words - STOP_WORDS or words) | {
        token for piece in match.pieces for token in Word((piece,), spaced=False).tokens
    }
    return sorted(set(map(stem, words)))


def word_idf(term: str, collection: Collection) -> float:
    """Return the inverse document frequency of one term. A term that no document has is as rare as one can be."""
    number = collection.find(term)
    frequency = collection.document_frequency(number) if number is not None else 0
    # A bigram is as rare as among the documents of its scripts, as in `word_groups`.
    is_bigram = frequency and not term.isascii() and len(term) <= 2
    return collection.idf(frequency, collection.lexicon.size if is_bigram else None)


def _terms(concept: Concept, collection: Collection) -> Sequence[TermGroup]:
    find = collection.find
    found = []
    for position, words in enumerate(concept.terms):
        terms = [term for word in words if (term := find(word)) is not None]
        counts = collection.document_frequencies(terms)
        if len(terms) == len(words) and all(counts):
            # Two words together are at least as rare as the rarer one.
            idf = collection.idf(min(counts)) * TERM_DECAY**position
            found.append(TermGroup(" ".join(words), dict.fromkeys(terms, 1.0), idf, match_all=True))
    return found
