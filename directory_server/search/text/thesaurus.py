"""What people speak of and what servers call it: a thesaurus made by hand, in `thesaurus.toml`."""

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
    """Something that people need: what servers call it, the most telling first, each one word or two, as terms."""

    name: str
    terms: Sequence[Sequence[str]]


@frozen
class Saying:
    """What people say when they need a concept: words, and pieces of scripts without spaces; all, in any order."""

    stems: frozenset[str]
    pieces: Sequence[str]
    concept: Concept


@frozen
class Thesaurus:
    """Sayings: those with words by one of these, those without by the first character of a piece."""

    by_stem: Mapping[str, Sequence[Saying]]
    by_character: Mapping[str, Sequence[Saying]]

    def meant(self, typed: Sequence[Word]) -> list[Concept]:
        """Return the concepts that these words speak of."""
        stems = {singular(part) for word in typed if word.spaced for part in word.parts}
        runs = [word.parts[0] for word in typed if not word.spaced]
        characters = set("".join(runs))
        found: dict[str, Concept] = {}
        for saying in chain(
            *(self.by_stem.get(each, ()) for each in sorted(stems)), *map(self._begun, sorted(characters))
        ):
            if saying.stems <= stems and all(any(piece in run for run in runs) for piece in saying.pieces):
                found[saying.concept.name] = saying.concept
        return list(found.values())

    def _begun(self, character: str) -> Sequence[Saying]:
        return self.by_character.get(character, ())


def singular(word: str) -> str:
    """Return an English word without the ending of a plural (Harman's S-stemmer, 1991, with `-es` of sibilants).

    Sayings are compared by this and not by `stem`, to which a composer and docker compose are one.
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
    """Return the thesaurus that ships."""
    return read_thesaurus(files("directory_server.search").joinpath("data", "thesaurus.toml").read_text("utf-8"))


def read_thesaurus(text: str) -> Thesaurus:
    """Return the thesaurus in a TOML document of `[[concept]]` tables, each with its `terms` and what is `said`."""
    by_stem: dict[str, list[Saying]] = {}
    by_character: dict[str, list[Saying]] = {}
    for table in tomllib.loads(text)["concept"]:
        concept = Concept(table["terms"][0], [tuple(map(stem, tokens(term))) for term in table["terms"]])
        for said in table["said"]:
            spoken = words(said, humps=False)
            stems = frozenset(singular(part) for word in spoken if word.spaced for part in word.parts)
            pieces = [word.parts[0] for word in spoken if not word.spaced]
            saying = Saying(stems, pieces, concept)
            if stems:
                by_stem.setdefault(min(stems), []).append(saying)
            else:
                by_character.setdefault(pieces[0][0], []).append(saying)
    return Thesaurus(by_stem, by_character)
