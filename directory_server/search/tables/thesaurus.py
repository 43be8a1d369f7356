"""The thesaurus: expressions, and the concepts (terms of servers) that they expand to.

`thesaurus.toml` has everyday expressions, in several languages. `topics.tsv` has the terms of narrower topics, in
English: a row of equivalent terms, related terms, and further expressions. Both were written for this project.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from sys import intern

from attrs import frozen

from ..text import is_unspaced, runs, stem, tokens
from .files import Lazy, read_table

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

    def matches(self, words: Iterable[str], unspaced: Sequence[str]) -> list[Match]:
        """Return the concepts that the words of a query, and its runs of scripts without spaces, match."""
        stems = {*map(singular, words)}
        characters = set("".join(unspaced))
        matched = [
            expression
            for alternatives in (
                *(self.by_stem.get(stem, ()) for stem in sorted(stems)),
                *(self.by_character.get(character, ()) for character in sorted(characters)),
            )
            for expression in alternatives
            if stems.issuperset(expression.stems)
            # Most expressions have no pieces.
            and (not expression.pieces or all(any(piece in run for run in unspaced) for piece in expression.pieces))
        ]
        matches: dict[Concept, Match] = {}
        for expression in _most_specific(matched) if matched else ():
            concept = expression.concept
            match = matches.get(concept, Match(concept, frozenset(), frozenset()))
            matches[concept] = Match(
                concept, match.stems.union(expression.stems), match.pieces.union(expression.pieces)
            )
        return [*matches.values()]


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
    expressions_read: list[Expression] = []
    for concept, expressions in chain(_everyday_concepts(toml), _topics(topics)):
        for text in expressions:
            parts = [part for parts, _ in runs(text, humps=False) for part in parts]
            # One object for each stem, and tuples instead of sets, take half of the memory.
            stems = tuple(dict.fromkeys(intern(singular(part)) for part in parts if not is_unspaced(part)))
            pieces = tuple(filter(is_unspaced, parts))
            expressions_read.append(Expression(stems, pieces, concept))
    used = Counter(stem for expression in expressions_read for stem in expression.stems)
    for expression in expressions_read:
        if expression.stems:
            # By the stem that fewest expressions have: a query compares few.
            by_stem.setdefault(min(expression.stems, key=lambda stem: (used[stem], stem)), []).append(expression)
        else:
            by_character.setdefault(expression.pieces[0][0], []).append(expression)
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
