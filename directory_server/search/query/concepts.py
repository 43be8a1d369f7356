"""Rows of concepts: everyday words of a query are expanded to the terms of servers (see `tables.thesaurus`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from math import sqrt

from ..index.view import View
from ..tables.stop_words import ENGLISH, FUNCTION_WORDS
from ..tables.thesaurus import Concept as Topic
from ..tables.thesaurus import singular, thesaurus
from ..text import is_unspaced
from .rows import Concept, Plan, Row, Word

BESIDE_PRODUCT = 0.25
"""The part of a concept that remains if the query has the name of a product that does not ask for the concept."""

TERM_DECAY = 0.85
"""The weight of each further term of a concept, relative to the one before it."""

MAX_CONCEPTS = 8
"""Concepts that one query is expanded to."""


def add_concepts(plan: Plan, words: Sequence[str], view: View) -> None:
    """Add the concepts that the words of a query, or their translations, ask for."""
    asked = _asked(plan, words)
    if not asked:
        return
    places = {word.text: place for place, word in enumerate(plan.words)}
    shared_by = Counter(text for texts in asked.values() for text in texts)
    products = {word.text for word in plan.words if word.is_product}
    rows_of = _rows([*asked][:MAX_CONCEPTS], view)
    for topic, texts in [*asked.items()][:MAX_CONCEPTS]:
        shares: dict[int, float] = {}
        for text in sorted(texts):
            for place in _places(text, places, plan, view):
                word = plan.words[place]
                shares[place] = min(word.value, word.weight * word.native) / sqrt(shared_by[text])
        # A product tells the topic: other words are what it is asked to do.
        if not products <= texts:
            shares = {place: BESIDE_PRODUCT * share for place, share in shares.items()}
        if shares and rows_of[topic]:
            plan.concepts.append(Concept(topic.name, rows_of[topic], shares))
            for place in shares:
                plan.words[place].counts_rarity = False


def _asked(plan: Plan, words: Sequence[str]) -> Mapping[Topic, set[str]]:
    """Return the concepts that a query asks for, and the words of the query that ask for each."""
    spaced = [word for word in words if not is_unspaced(word)]
    unspaced = [word for word in words if is_unspaced(word)]
    by_stem = {singular(word): word for word in spaced}
    asked = {
        match.concept: {by_stem[part] for part in match.stems} | match.pieces
        for match in thesaurus().matches(spaced, unspaced)
    }
    asked = {topic: texts for topic, texts in asked.items() if not _is_cut(texts, plan)}
    # A request for a server does not ask for registries of servers.
    asked = {topic: texts for topic, texts in asked.items() if not texts <= FUNCTION_WORDS | {"server", "mcp"}}
    if plan.language or unspaced:
        english = {
            part: word.text for word in plan.words for part in " ".join(word.english[:1]).split() if part not in ENGLISH
        }
        by_stem = {singular(part): text for part, text in english.items()}
        for match in thesaurus().matches(english, ()):
            # A single word is too uncertain for a topic.
            if match.concept not in asked and (len(match.stems) > 1 or not match.concept.is_topic):
                asked[match.concept] = {by_stem[part] for part in match.stems}
    return asked


def _is_cut(texts: set[str], plan: Plan) -> bool:
    """Return whether one of `texts` is only the beginning of a Korean word of the query."""
    words = [word.text for word in plan.words if word.english and "가" <= word.text[-1] <= "힣"]
    return any(word.startswith(text) and word != text for text in texts for word in words)


def _places(text: str, places: dict[str, int], plan: Plan, view: View) -> Sequence[int]:
    """Return the places of the words of the plan for a word of an expression; add one that no entry has."""
    if text in places:
        return [places[text]]
    if is_unspaced(text):
        pairs = enumerate(plan.words)
        of_run = [place for place, word in pairs if is_unspaced(word.text) and (word.text in text or text in word.text)]
        if of_run:
            return of_run
    if text in FUNCTION_WORDS:
        return []
    places[text] = len(plan.words)
    plan.words.append(Word(text, view.idf(0), []))
    return [places[text]]


def _rows(topics: Sequence[Topic], view: View) -> Mapping[Topic, list[Row]]:
    """Return the rows of concepts: their terms that entries have, the most specific first."""
    new = [topic for topic in topics if not view.has_made(("concept", topic))]
    view.frequencies([term for topic in new for terms in topic.terms for term in terms])
    return {topic: view.once(("concept", topic), partial(_rows_of, topic, view)) for topic in topics}


def _rows_of(topic: Topic, view: View) -> list[Row]:
    counted = [(terms, min(view.frequencies(terms))) for terms in topic.terms]
    return [
        (terms[0], terms[-1], 1.0, view.idf(count) * TERM_DECAY**place)
        for place, (terms, count) in enumerate(counted)
        if count
    ]
