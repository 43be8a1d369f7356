"""The thesaurus: everyday expressions, and the concepts (terms of servers) that they expand to. See thesaurus.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain

from attrs import frozen

from .analysis import Word, stem, tokens, words

_SINGULAR_IN_S = frozenset({"news", "always", "canvas", "atlas", "pandas", "postgres", "kubernetes", "jenkins"})


@frozen
class Concept:
    """A concept: the terms that servers use for it, the most specific first, each of one word or two."""

    name: str
    terms: Sequence[Sequence[str]]


@frozen
class Expression:
    """An expression for a concept: a query must have all its stems, and all its pieces of scripts without spaces."""

    stems: frozenset[str]
    pieces: Sequence[str]
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

    def matches(self, query: Sequence[Word]) -> list[Match]:
        """Return the concepts that the words of a query match."""
        stems = {singular(part) for word in query if word.spaced for part in word.parts}
        runs = [word.parts[0] for word in query if not word.spaced]
        characters = set("".join(runs))
        found: dict[str, Match] = {}
        for expression in chain(
            *(self.by_stem.get(each, ()) for each in sorted(stems)),
            *map(self._with_first_character, sorted(characters)),
        ):
            if expression.stems <= stems and all(any(piece in run for run in runs) for piece in expression.pieces):
                concept = expression.concept
                match = found.get(concept.name, Match(concept, frozenset(), frozenset()))
                found[concept.name] = Match(
                    concept, match.stems | expression.stems, match.pieces.union(expression.pieces)
                )
        return list(found.values())

    def _with_first_character(self, character: str) -> Sequence[Expression]:
        return self.by_character.get(character, ())


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


@cache
def thesaurus() -> Thesaurus:
    """Return the thesaurus of the package."""
    return read_thesaurus(files("directory_server.search").joinpath("data", "thesaurus.toml").read_text("utf-8"))


def read_thesaurus(toml: str) -> Thesaurus:
    """Return the thesaurus of a TOML document of `[[concept]]` tables with `terms` and `expressions`."""
    by_stem: dict[str, list[Expression]] = {}
    by_character: dict[str, list[Expression]] = {}
    for table in tomllib.loads(toml)["concept"]:
        concept = Concept(table["terms"][0], [tuple(map(stem, tokens(term))) for term in table["terms"]])
        for text in table["expressions"]:
            parsed = words(text, humps=False)
            stems = frozenset(singular(part) for word in parsed if word.spaced for part in word.parts)
            pieces = [word.parts[0] for word in parsed if not word.spaced]
            expression = Expression(stems, pieces, concept)
            if stems:
                by_stem.setdefault(min(stems), []).append(expression)
            else:
                by_character.setdefault(pieces[0][0], []).append(expression)
    return Thesaurus(by_stem, by_character)
