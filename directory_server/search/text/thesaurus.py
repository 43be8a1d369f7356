"""The thesaurus: expressions, and the concepts (terms of servers) that they expand to.

`thesaurus.toml` has everyday expressions, in several languages. `topics.tsv` has the terms of narrower topics, in
English: a row of equivalent terms, related terms, and further expressions. Both were written for this project.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain, combinations
from sys import intern

from attrs import frozen

from .analysis import Word, stem, tokens, words
from .conversions import conversions
from .tables import Lazy, read_table

_SINGULAR_IN_S = frozenset({"news", "always", "canvas", "atlas", "pandas", "postgres", "kubernetes", "jenkins"})


@frozen(eq=False)
class Concept:
    """A concept: the terms that servers use for it, the most specific first, each of one word or two.

    A topic is narrower than a concept of everyday expressions.
    """

    name: str
    terms: Sequence[Sequence[str]]
    is_topic: bool = False


@frozen
class Expression:
    """An expression for a concept: a query must have all its stems, and all its pieces of scripts without spaces."""

    stems: tuple[str, ...]
    pieces: tuple[str, ...]
    concept: Concept

    def is_opposite_of(self, conversions: Set[tuple[str, str]]) -> bool:
        """Return whether one of `conversions` is from a later word to an earlier one.

        "Speech to text" has the words of "text to speech", and does not ask for it.
        """
        pairs = combinations([stem(word) for word in self.stems], 2)
        return any((later, earlier) in conversions for earlier, later in pairs)


@frozen
class Match:
    """A concept that a query asks for: the stems and pieces of all its expressions that the query has."""

    concept: Concept
    stems: frozenset[str]
    pieces: frozenset[str]


@frozen
class Thesaurus:
    """Expressions: by one of their stems, or those without by the first character of a piece."""

    by_stem: Mapping[str, Sequence[Expression]]
    by_character: Mapping[str, Sequence[Expression]]

    def matches(self, query: Sequence[Word]) -> list[Match]:
        """Return the concepts that the words of a query match."""
        stems = {singular(part) for word in query if word.spaced for part in word.parts}
        runs = [word.parts[0] for word in query if not word.spaced]
        characters = set("".join(runs))
        stated = conversions(" ".join(part for word in query if word.spaced for part in word.parts), is_name=True)
        matched = [
            expression
            for alternatives in (
                *map(self._with_stem, sorted(stems)),
                *map(self._with_first_character, sorted(characters)),
            )
            for expression in alternatives
            if len(expression.stems) <= len(stems)
            and stems.issuperset(expression.stems)
            # Most expressions have no pieces.
            and (not expression.pieces or all(any(piece in run for run in runs) for piece in expression.pieces))
            and not (stated and expression.is_opposite_of(stated))
        ]
        if not matched:
            return []
        found: dict[Concept, Match] = {}
        for expression in _most_specific(matched):
            concept = expression.concept
            match = found.get(concept, Match(concept, frozenset(), frozenset()))
            found[concept] = Match(concept, match.stems.union(expression.stems), match.pieces.union(expression.pieces))
        return list(found.values())

    def _with_stem(self, stem: str) -> Sequence[Expression]:
        return self.by_stem.get(stem, ())

    def _with_first_character(self, character: str) -> Sequence[Expression]:
        return self.by_character.get(character, ())


def _most_specific(matched: Sequence[Expression]) -> Iterator[Expression]:
    """Yield the expressions that have no words, or whose words no longer expression has and no topic has alone.

    "satellite imagery" is no search for satellites.
    """
    every = {frozenset(expression.stems) for expression in matched if not expression.pieces}
    topics = {frozenset(expression.stems) for expression in matched if expression.concept.is_topic}
    for expression in matched:
        stems = frozenset(expression.stems)
        is_part = any(stems < other for other in every)
        if expression.pieces or not (is_part or (stems in topics and not expression.concept.is_topic)):
            yield expression


def singular(word: str) -> str:
    """Return an English word without the ending of a plural (Harman's S-stemmer, 1991, with `-es` of sibilants).

    Expressions are compared by this and not by `stem`, which maps composer and compose to one term.
    """
    if len(word) < 4 or word[-1] != "s" or word.endswith(("ss", "us", "is")) or word in _SINGULAR_IN_S:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    return word[:-1]


def _thesaurus() -> Thesaurus:
    return read_thesaurus(read_table("thesaurus.toml"), read_table("topics.tsv"))


thesaurus = Lazy(_thesaurus)
"""Return the thesaurus of the package. The first call takes about 0.25 seconds."""


def read_thesaurus(toml: str, topics: str = "") -> Thesaurus:
    """Return the thesaurus of two tables.

    `toml` has `[[concept]]` tables with `terms` and `expressions`. `topics` has tab-separated values: a row of
    headings, and rows of equivalent terms, related terms, and expressions, each separated by commas.
    """
    by_stem: dict[str, list[Expression]] = {}
    by_character: dict[str, list[Expression]] = {}
    for concept, expressions in chain(_everyday_concepts(toml), _topics(topics)):
        for text in expressions:
            parsed = words(text, humps=False)
            # One object for each stem, and tuples instead of sets, take half of the memory.
            stems = tuple(
                dict.fromkeys(intern(singular(part)) for word in parsed if word.spaced for part in word.parts)
            )
            pieces = tuple(word.parts[0] for word in parsed if not word.spaced)
            expression = Expression(stems, pieces, concept)
            if stems:
                by_stem.setdefault(min(stems), []).append(expression)
            else:
                by_character.setdefault(pieces[0][0], []).append(expression)
    return Thesaurus(*({start: tuple(found) for start, found in table.items()} for table in (by_stem, by_character)))


def _everyday_concepts(toml: str) -> Iterator[tuple[Concept, Sequence[str]]]:
    for table in tomllib.loads(toml)["concept"]:
        yield _concept(table["terms"]), table["expressions"]


def _topics(table: str) -> Iterator[tuple[Concept, Sequence[str]]]:
    for line in table.splitlines()[1:]:
        equivalents, related, others = ([item for item in cell.split(",") if item] for cell in line.split("\t"))
        yield _concept([*equivalents, *related], is_topic=True), [*equivalents, *others]


def _concept(terms: Sequence[str], *, is_topic: bool = False) -> Concept:
    return Concept(terms[0], [tuple(intern(stem(token)) for token in tokens(term)) for term in terms], is_topic)
