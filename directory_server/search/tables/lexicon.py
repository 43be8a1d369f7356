"""The lexicon: English expressions for words and names of other languages.

The table is `data/lexicon.npz`, which `search_data/lexicon.py` makes of a table of the words of the domain, one of
names of services, and open dictionaries. `data/README.md` has the sources and licences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..text import fold, stem
from .files import NOTHING, HashedTexts, Lazy, read_arrays, read_table
from .languages import ALPHABETS, COMPOUNDING, LANGUAGES, NAMES, UNSPACED, bases_of, forms_of
from .near_words import NearWords
from .thesaurus import singular

LONGEST = 8
"""Characters of the longest word of a script without spaces."""

LONGEST_EXPRESSION = 3
"""Words of the longest expression of another language."""

MIN_COMPOUND_PART, MIN_LONE_PART, MAX_COMPOUND = 4, 5, 32
"""Letters of the shortest part of a compound, of the shortest one that stands for all of it, and of the longest
compound."""

_LINKS = ("", "s", "es", "n", "en", "e")
"""Letters between the parts of a compound."""


@frozen
class Translated:
    """English expressions for an expression, the best first.

    The rarity is the negative decimal logarithm of its share in texts of its language. `is_sure` is true for words of
    the domain, false for those that only dictionaries have.
    """

    english: Sequence[str]
    rarity: float
    is_sure: bool


@frozen(eq=False)
class Lexicon:
    """Keys, ordered by their bytes: a language, a space, and a folded word, its stem, or words.

    The English expressions of the key at a place are those at the `numbers` from `starts[place]` to
    `starts[place + 1]`. `english` is ordered by its bytes.
    """

    keys: HashedTexts
    starts: NDArray[np.uint32]
    numbers: NDArray[np.int32]
    rarities: NDArray[np.uint8]
    sure: NDArray[np.bool_]
    english: HashedTexts
    function_words: Mapping[str, frozenset[str]]

    def find(self, keys: Sequence[str]) -> dict[str, Translated]:
        """Return what the lexicon has for those of `keys` that it knows."""
        places = self.keys.find_all([key.encode("utf-8", "replace") for key in keys])
        return {key: self._translated(place) for key, place in zip(keys, places, strict=True) if place != NOTHING}

    def _translated(self, place: int) -> Translated:
        numbers = self.numbers[self.starts[place] : self.starts[place + 1]].tolist()
        english = [self.english.texts[number].decode() for number in numbers]
        return Translated(english, float(self.rarities[place]) / 10, bool(self.sure[place]))

    def translate(self, language: str, words: Sequence[str], place: int) -> tuple[Translated | None, int]:
        """Return the translation of the longest expression of `words` that begins at a place, and its number of words.

        None and 1 if there is none. A compound gives the words for both parts, or for one of them.
        """
        keys: dict[str, int] = {}
        for size in range(min(LONGEST_EXPRESSION, len(words) - place), 0, -1):
            expression = words[place : place + size]
            for forms in zip(*(_padded(forms_of(language, word)) for word in expression), strict=True):
                keys.setdefault(f"{language} {' '.join(forms)}", size)
            keys.setdefault(f"{NAMES} {' '.join(expression)}", size)
        known = self.find([*keys])
        if known:
            # The first of the longest: keys are in this order.
            best = max(known, key=lambda key: keys[key])
            return known[best], keys[best]
        return self._by_parts(language, words[place]) or self._by_base(language, words[place]), 1

    def _by_base(self, language: str, word: str) -> Translated | None:
        """Return the translation of a word of which `word` may be an inflected form."""
        keys = [f"{language} {form}" for form in bases_of(language, word)]
        known = self.find(keys)
        return next((known[key] for key in keys if key in known), None)

    def _by_parts(self, language: str, word: str) -> Translated | None:
        """Return the translation of a compound: of its two parts, or else of its longest known part."""
        if language not in COMPOUNDING or not 2 * MIN_COMPOUND_PART <= len(word) <= MAX_COMPOUND:
            return None
        cuts = [
            (word[: at - len(link)], word[at:])
            for at in range(len(word) - MIN_COMPOUND_PART, MIN_COMPOUND_PART - 1, -1)
            for link in _LINKS
            if word[:at].endswith(link) and at - len(link) >= MIN_COMPOUND_PART
        ]
        halves = dict.fromkeys(half for cut in cuts for half in cut)
        forms = {f"{language} {form}": half for half in halves for form in forms_of(language, half)}
        known: dict[str, Translated] = {}
        for key, translated in self.find([*forms]).items():
            if forms[key] not in known or translated.is_sure:
                known[forms[key]] = translated
        both = [cut for cut in cuts if cut[0] in known and cut[1] in known]
        if both:
            # The division whose shorter part is longest.
            first, last = (known[half] for half in max(both, key=lambda cut: min(map(len, cut))))
            english = [f"{first.english[0]} {last.english[0]}", last.english[0], first.english[0]]
            if first.is_sure and not last.is_sure:
                # Dictionaries have many words for a short one, and seldom that of the domain first.
                english = english[::-1]
            return Translated(english, max(first.rarity, last.rarity), first.is_sure and last.is_sure)
        lone = [half for half in known if len(half) >= MIN_LONE_PART]
        return known[max(lone, key=lambda half: (len(half), half))] if lone else None

    def words_in(self, run: str) -> dict[str, Translated]:
        """Return what the lexicon has for the words in a run of a script without spaces."""
        spans = {
            run[first:last]
            for first in range(len(run))
            for last in range(first + 1, min(first + LONGEST, len(run)) + 1)
        }
        known = self.find([f"{UNSPACED} {piece}" for piece in spans])
        return {key[len(UNSPACED) + 1 :]: translated for key, translated in known.items()}

    def near(self, word: str, edits: int) -> Iterator[tuple[str, int]]:
        """Yield the English words within `edits` of `word`, and their edits."""
        return near_english().find(word, edits)

    def is_english(self, word: str) -> bool:
        """Return whether a word is an English expression of the lexicon."""
        return any(self.english.find(form.encode("utf-8", "replace")) != NOTHING for form in {word, singular(word)})


@lru_cache(maxsize=4_096)
def known_forms(word: str) -> Mapping[str, Translated]:
    """Return what the lexicon has for the forms of a word in all languages, by the language and the form."""
    return lexicon().find([f"{language} {form}" for language in LANGUAGES for form in forms_of(language, word)])


def _languages_of(word: str) -> set[str]:
    functional = {language for language, words in lexicon().function_words.items() if word in words}
    return functional.union(key.partition(" ")[0] for key in known_forms(word))


def _padded(forms: Sequence[str]) -> Sequence[str]:
    """Return three forms, the last one repeated."""
    return (*forms, *(forms[-1],) * (3 - len(forms)))


def likely_language(words: Sequence[str], letters: frozenset[str], english: frozenset[str]) -> str:
    """Return the language of the words of a query, an empty string for English and for unknown ones.

    `letters` are those of the query that English lacks, `english` the function words of English. Words that only one
    language has count twice.
    """
    lettered = [language for language, alphabet in ALPHABETS.items() if letters and letters <= alphabet]
    if len(lettered) == 1 and len(words) > 1:
        return lettered[0]
    foreign = [word for word in words if word not in english and not lexicon().is_english(word)]
    if not foreign or (len(words) < 2 and not letters) or len(words) - len(foreign) > 2 * len(foreign):
        return ""
    if len(foreign) < 2 and not lettered:
        return ""
    known = [_languages_of(word) for word in words]
    possible = set().union(*known)
    votes: dict[str, int] = {}
    for language in filter(possible.__contains__, LANGUAGES):
        only = sum(language in languages for word, languages in zip(words, known, strict=True) if word in foreign)
        shared = sum(language in languages for languages in known) - only
        if only >= 2 or (only and language in lettered):
            votes[language] = 2 * only + shared + 2 * (language in lettered)
    best = [language for language, count in votes.items() if count == max(votes.values())]
    # An expression of several words tells languages apart that share the words.
    return max(best, key=lambda language: _words_in_expressions(language, words)) if best else ""


def _words_in_expressions(language: str, words: Sequence[str]) -> int:
    """Return the number of words that expressions of a language begin with."""
    return sum(lexicon().translate(language, words, place)[1] > 1 for place in range(len(words)))


def _load() -> Lexicon:
    rows = (line.split("\t") for line in fold(read_table("function_words.tsv")).casefold().splitlines())
    function_words = {row[0]: frozenset(row[1].replace("'", " ").split()) for row in rows if len(row) == 2}
    function_words["ru"] = function_words.get("ru", frozenset()) | function_words.pop("uk", frozenset())
    function_words.pop("en", None)
    arrays: dict[str, Any] = dict(read_arrays("lexicon.npz"))
    starts = np.append(0, np.cumsum(arrays.pop("counts"), dtype=np.uint32)).astype(np.uint32)
    hashed = {name: HashedTexts.of(arrays[name]) for name in ("keys", "english")}
    return Lexicon(**{**arrays, **hashed}, starts=starts, function_words=function_words)


lexicon = Lazy(_load)
"""Return the lexicon of the package. The first call takes about 0.1 seconds."""


def english_terms(expressions: Iterable[str], ignored: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """Yield the terms of the words of each English expression that are not `ignored`, none twice."""
    return iter(
        dict.fromkeys(
            terms
            for expression in expressions
            if (terms := tuple(stem(word) for word in expression.split() if word not in ignored))
        )
    )


def _load_near_english() -> NearWords:
    english = lexicon().english.texts
    return NearWords.of(english, np.char.find(english, b" ") < 0)


near_english = Lazy(_load_near_english)
"""Return the English words of the lexicon, of which a misspelt one is looked up. The first call takes 30 ms."""
