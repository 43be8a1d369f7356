"""Query plans: the evidence and filters by which documents are scored."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Protocol

from attrs import evolve, frozen

from ...domain.search import Likeness
from ..index.claims import CLAIM
from ..index.collection import Collection
from ..index.merging import Postings
from ..index.segment import Segment
from ..text.analysis import Word, stem
from ..text.translation_tables import translations
from ..text.word_vectors import query_vector
from .concepts import ConceptEvidence, Expansion, concept_evidence, expansions, word_idf
from .conditions import LIGHT, Condition, Request, find_conditions
from .exclusions import FUNCTION_WORDS, GENERAL_STEMS, MIN_NAMED, STOP_WORDS, without_exclusions
from .foreign import country_groups, pinyin_groups, run_parts
from .groups import Part, TermGroup
from .names import exact_name_matches, fuzzy_name_matches, prefix_name_matches, query_name, without_common_parts
from .parsing import ParsedQuery, with_whole_names
from .terms import fragment_groups, joined_groups, with_joined, word_parts
from .translation import Translation, conversion_groups, english_words, translate

GENERAL_WEIGHT = 0.5
"""The weight of a word on any topic beside other words."""

NAMED_WEIGHT = 1.4
"""The weight of a word with capitals in a query of other words."""

MIN_SENTENCE = 5
"""Parts of a query that is no name."""


_LIGHT_WORDS = dict.fromkeys(GENERAL_STEMS, GENERAL_WEIGHT) | dict.fromkeys(map(stem, STOP_WORDS | FUNCTION_WORDS), 0.0)
"""The weights of words on any topic, and of those without one, in the vector of a query."""


class Evidence(Protocol):
    """A part of a query that scores documents."""

    @property
    def label(self) -> str:
        """The part of the query, for explanations."""

    def postings(self, segments: Sequence[Segment]) -> list[Postings]:
        """Return for each of `segments` the matching documents and their scores."""


@frozen
class Plan:
    """Plan of the scoring of documents for one query.

    `parts` and `concepts` show how much of the query a document covers, `others` (words written as one, conversions) do
    not. `exact` are exact name matches, `names` prefix and fuzzy ones. `query_weight` is the total idf of the words, at
    least 1. `allows_feedback` enables pseudo-relevance feedback, `allows_focus` the focus of documents. Documents gain
    by the `conditions` that they satisfy. `is_name` is true if the query is the name of an entry or of a product, and
    `filters_only` if it has no words. `vector` is what it means (see `text.word_vectors`), None if that is unknown or
    the query is a name. `likeness` is that of the request, None if it has none or the query is a name. `unknown_weight`
    is the total idf of the words that no entry has. `is_translated` is true if the query is in another language than
    English. `claims` are the terms of its words that an entry claims, and `meaning` is its vector for them.
    """

    parts: Sequence[Part]
    concepts: Sequence[ConceptEvidence]
    others: Sequence[TermGroup]
    exact: Sequence[TermGroup]
    names: Sequence[TermGroup]
    query_weight: float
    allows_feedback: bool
    required: Sequence[Sequence[int]]
    excluded: Sequence[int]
    phrases: Sequence[str]
    conditions: Sequence[Condition]
    is_name: bool
    filters_only: bool
    allows_focus: bool
    vector: bytes | None
    likeness: Likeness | None
    unknown_weight: float
    is_translated: bool
    claims: Sequence[int] = ()
    meaning: bytes | None = None

    @property
    def groups(self) -> Sequence[TermGroup]:
        """Return all term groups."""
        words = [group for part in self.parts for group in part.groups]
        return [*words, *self.others, *self.exact, *self.names]

    @property
    def has_filters(self) -> bool:
        """Return whether the query has filters, phrases or exclusions."""
        return bool(self.required or self.excluded or self.phrases)


def build_plan(query: ParsedQuery, collection: Collection, likeness: Likeness | None = None) -> Plan:
    """Return the plan of `query`, whose first hits are also ranked by `likeness`."""
    query = with_whole_names(query, collection)
    given, name, request = query, query_name(query, collection), find_conditions(query.words)
    if request.conditions and name.exact:
        # A name may have the words of a condition.
        request = Request(query.words)
    if request.conditions:
        query = evolve(query, words=request.words, is_complete=query.is_complete or request.cuts_end)
    if not name.exact and (kept := without_exclusions(query.words, collection)) is not query.words:
        query = evolve(query, words=kept, is_complete=query.is_complete or kept[-1] is not query.words[-1])
    if name.is_product:
        query = without_common_parts(query)
    translation = translate(query, translations(), collection)
    request, parts, others, expanded = _topic(query, request, translation, collection)
    query_weight = max(sum([part.weight for part in parts]), 1.0)
    exact, is_name = exact_name_matches(name, query_weight), bool(name.exact)
    names = [*prefix_name_matches(name, collection, query_weight)]
    if not is_name:
        names += fuzzy_name_matches(name, collection, query_weight)
    concepts: Sequence[ConceptEvidence] = []
    if expanded and not is_name:
        # A query that is a name is not expanded.
        named = _name_ratio([*(group for part in parts for group in part.groups), *others], collection)
        translated = {term: part.weight for part in parts for term in part.stems} if translation.matches else {}
        concepts = concept_evidence(expanded, collection, query_weight, 1 - named, _rarest(parts, expanded), translated)
    if not (parts or others or exact or concepts or names):
        others = fragment_groups(query, collection)
    converted = conversion_groups(given, collection, query_weight) if parts else []
    if concepts:
        parts += _parts_of_concepts(concepts, parts, collection)
    # Entries that satisfy a condition or convert in the asked direction must not lose to shorter descriptions.
    is_plain = not (request.conditions or converted)
    allows_feedback = not is_name and _allows_feedback(query, parts)
    find = collection.find
    claims = [term for word in {*map(stem, query.parts)} if (term := find(CLAIM + word)) is not None]
    return Plan(
        _with_names(parts, query),
        concepts,
        [*others, *converted],
        exact,
        names,
        query_weight,
        allows_feedback,
        [[term for word in alternatives if (term := find(word)) is not None] for alternatives in query.required],
        [term for word in query.excluded if (term := find(word)) is not None],
        query.phrases,
        request.conditions,
        is_name=is_name,
        filters_only=query.has_filters and not query.words,
        # One word is mostly a name, or a part of one.
        allows_focus=allows_feedback and is_plain and len(parts) > 1,
        # One word says too little of what is meant.
        vector=None if is_name or len(parts) <= 1 else query_vector(_known_words(query, translation), _LIGHT_WORDS),
        likeness=None if is_name or (names and len(parts) <= 1) else likeness,
        unknown_weight=collection.idf(0) * _count_unknown(query, parts, translation, collection),
        is_translated=bool(translation.language),
        claims=claims,
        meaning=query_vector(query.words, _LIGHT_WORDS) if claims else None,
    )


def claims_plan(plan: Plan, collection: Collection) -> Plan:
    """Return a plan that finds the entries with a claim of the words of `plan`, within its filters."""
    weights = {term: collection.idf(collection.document_frequency(term)) for term in plan.claims}
    parts = [Part(set(), weight, [TermGroup("", {term: 1.0}, weight)]) for term, weight in weights.items()]
    return evolve(
        plan,
        parts=parts,
        concepts=(),
        others=(),
        exact=(),
        names=(),
        query_weight=max(sum(weights.values()), 1.0),
        allows_feedback=False,
        conditions=(),
        allows_focus=False,
    )


def _count_unknown(query: ParsedQuery, parts: Sequence[Part], translation: Translation, collection: Collection) -> int:
    """Return the number of words of `query` that no document has, in any form."""
    unknown = {word for word in query.parts if not collection.word(word)[1]} - STOP_WORDS - FUNCTION_WORDS
    unknown -= translation.ignored
    runs = [match.words[0] for match in translation.runs]
    if not unknown and not runs:
        return 0
    known = {term for part in parts for term in part.stems}
    translated = [Word((run,), spaced=False).tokens for run in runs]
    return sum(stem(word) not in known for word in unknown) + sum(map(known.isdisjoint, translated))


def _topic(
    query: ParsedQuery, request: Request, translation: Translation, collection: Collection
) -> tuple[Request, list[Part], Sequence[TermGroup], Sequence[Expansion]]:
    """Return the parts of the words of `query`, further groups, and the concepts that the words expand to.

    The conditions of `request` are returned first, without those whose words are the topic.
    """
    expanded = expansions(query, translation, collection)
    known = {term for expansion in expanded for term in expansion.stems}
    others: Sequence[TermGroup] = [*joined_groups(query, collection)]
    parts = with_joined([*word_parts(query, collection, known, translation)], others)
    if not query.is_spaced:
        parts += run_parts(query, collection, translation)
        others = [*others, *pinyin_groups(query, collection)]
    if request.conditions:
        request, parts, others = _without_light_words(request, parts, others)
    parts = _without_general_words(parts, known, collection)
    if parts and translation.language:
        others = [*others, *country_groups(translation, collection)]
    return request, parts, others, expanded


def _rarest(parts: Sequence[Part], expanded: Sequence[Expansion]) -> float:
    """Return the weight of the rarest word that is not corrected, and that asks for no concept."""
    known = {term for expansion in expanded for term in expansion.stems}
    return max((part.weight for part in parts if not part.is_corrected and part.stems.isdisjoint(known)), default=0.0)


def _known_words(query: ParsedQuery, translation: Translation) -> Sequence[Word]:
    """Return the words of `query`, and English ones for those that only the dictionary has: they have no vectors."""
    general = [match for match in translation.matches if match.is_general]
    if not general:
        return query.words
    replaced = {word for match in general for word in match.words}
    others = [word for word in query.words if not (word.spaced and replaced.issuperset(word.parts))]
    return [*others, *(word for match in general for word in english_words(match))]


def _parts_of_concepts(
    concepts: Sequence[ConceptEvidence], parts: Sequence[Part], collection: Collection
) -> list[Part]:
    """Return parts for the words that no document has, but that are in expressions of `concepts`."""
    matched = {term for part in parts for term in part.stems}
    unknown = {term for concept in concepts for term in concept.shares} - matched
    return [Part({term}, word_idf(term, collection), []) for term in sorted(unknown)]


def _allows_feedback(query: ParsedQuery, parts: Sequence[Part]) -> bool:
    # Corrections of several words may all be wrong; one misspelt word is mostly a name.
    is_guess = len(parts) > 1 and all(part.is_corrected for part in parts)
    # Feedback terms are English, and would rank the few entries in other scripts lower.
    return query.is_spaced and not (query.has_filters or is_guess)


def _without_light_words(
    request: Request, parts: list[Part], others: Sequence[TermGroup]
) -> tuple[Request, list[Part], Sequence[TermGroup]]:
    """Return all three with a lower weight for words that may state a condition, if there are other words."""
    light = {stem(word) for word in request.light}
    if all(part.stems <= light for part in parts):
        # No document has the other words: those that may state a condition are the topic.
        return request.certain(), parts, others
    if not light:
        return request, parts, others
    parts = [_weighed(part, LIGHT) if part.stems <= light else part for part in parts]
    return request, parts, [group for group in others if not request.light.issuperset(group.label.split())]


def _weighed(part: Part, factor: float) -> Part:
    """Return a part with its weight times `factor`."""
    groups = [evolve(group, idf=factor * group.idf) for group in part.groups]
    return evolve(part, weight=factor * part.weight, groups=groups)


def _without_general_words(parts: list[Part], known: Set[str], collection: Collection) -> list[Part]:
    """Return `parts` with a lower weight for words on any topic, if there are others.

    Words of concepts (stems in `known`) keep their weight, and in a short query those of names ("Google Keep").
    """
    general = [part.stems <= GENERAL_STEMS and part.stems.isdisjoint(known) for part in parts]
    if all(general) or not any(general):
        return parts
    if len(parts) < MIN_SENTENCE:
        pairs = zip(parts, general, strict=True)
        general = [is_general and _name_ratio(part.groups, collection) < MIN_NAMED for part, is_general in pairs]
    return [
        _weighed(part, GENERAL_WEIGHT) if is_general else part for part, is_general in zip(parts, general, strict=True)
    ]


def _with_names(parts: list[Part], query: ParsedQuery) -> list[Part]:
    """Return `parts` with a higher weight for words with capitals, which are mostly names ("Apple Health steps")."""
    if not query.capitals:
        return parts
    names = {stem(capital) for capital in query.capitals}
    return [_weighed(part, NAMED_WEIGHT) if part.alternatives and part.stems <= names else part for part in parts]


def _name_ratio(words: Sequence[TermGroup], collection: Collection) -> float:
    terms = [term for group in words for term in group.terms]
    return collection.name_ratio(terms, [weight for group in words for weight in group.terms.values()])
