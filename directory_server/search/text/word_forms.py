"""Words of other languages: the language of a script, and the forms by which a word is looked up."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from threading import local

import Stemmer
from rapidfuzz.distance import Prefix

STEMMERS = {
    "de": "german", "es": "spanish", "fr": "french", "pt": "portuguese", "it": "italian", "ru": "russian",
    "ar": "arabic", "hi": "hindi", "tr": "turkish", "id": "indonesian", "pl": "polish",
    "nl": "dutch",
}  # fmt: skip
"""Snowball algorithms of languages."""

VIETNAMESE = "vi"
"""A language whose words have no endings."""

SCRIPTS = {
    "ru": re.compile(r"[\u0400-\u04ff]"),
    "ar": re.compile(r"[\u0600-\u06ff]"),
    "hi": re.compile(r"[\u0900-\u097f]"),
}
"""Scripts that identify a language."""

LATIN = tuple(language for language in (*STEMMERS, VIETNAMESE) if language not in SCRIPTS)
"""Languages that are written in Latin letters."""

UKRAINIAN = "uk"
"""A language that shares the words of its script with Russian: single words of a query often do not tell them apart."""

LEXICONS = {UKRAINIAN: "ru"}
"""The language that the lexicon has the words of another language in."""

_UKRAINIAN_LETTERS = frozenset("іїєґ")

_RUSSIAN_LETTERS = str.maketrans("іїєґ", "ииег")
"""Russian letters for those that it lacks, so that its stemmer knows Ukrainian endings."""

_VIETNAMESE_LETTERS = "àáâãèéêìíòóôõùúýăđĩũơư" + "".join(map(chr, range(0x1EA0, 0x1EFA)))

ALPHABETS = {
    language: frozenset(letters)
    for language, letters in {
        "de": "äöüß", "es": "áéíñóúü", "fr": "àâæçèéêëîïôùûüÿœ", "it": "àèéìíòóùú", "pt": "àáâãçéêíóôõúü",
        "pl": "ąćęłńóśźż", "tr": "âçğıîöşûü", "vi": _VIETNAMESE_LETTERS, "nl": "éëïóöü",
    }.items()
}  # fmt: skip
"""The letters of languages that English does not have."""

_CHARACTERS = {
    "ko": re.compile("[\uac00-\ud7a3]"),
    "ja": re.compile("[\u3041-\u30ff]"),
    "zh": re.compile("[\u3400-\u9fff]"),
}
"""Characters that identify a language, in this order: Japanese has Chinese ones, too."""

MIN_STEM = 4
"""Letters of the shortest stem of a Latin word. Shorter ones are also parts of names ("git")."""

_ARABIC_PREFIX = re.compile("^(?:[وفبك]?ال|لل|[وبل])(?=.{3})")
"""The article, conjunctions and prepositions that are written with an Arabic word."""


_UNFOLDED = {
    "es": ((re.compile("([cs])ion$"), r"\1ión"),),
    "pt": ((re.compile("c(?:ao|oes)$"), "ção"), (re.compile("(?:ao|oes)$"), "ão"), (re.compile("ns$"), "m")),
    "ar": ((re.compile("ه$"), "ة"),),
}
"""Endings that a stemmer knows with their accents or in the singular only, without accents, and as it knows them."""

_TURKISH_ENDING = re.compile(
    "(?:l[ae]r)?(?:[iu]?m[iu]z|[iu]?n[iu]z|[iu]m|s?[iu])?(?:n?d[ae]n?|t[ae]n?|n?[iu]n?|y?[ae]|n[ae]|yl[ae]|y[iu]|l[iu])?"
)
"""Plural, possessive and case, without accents: vowel harmony, which the stemmer expects, is lost."""


def turkish_bases(word: str) -> Iterator[str]:
    """Yield the words of which a Turkish word may be an inflected form, the longest first."""
    for length in range(len(word) - 1, MIN_STEM - 2, -1):
        if _TURKISH_ENDING.fullmatch(word, length):
            yield word[:length]


def language_of_script(part: str) -> str:
    """Return the language that the script of a word identifies, or an empty string."""
    if part.isascii():
        return ""
    return next((language for language, script in SCRIPTS.items() if script.match(part)), "")


def is_ukrainian(parts: Iterable[str]) -> bool:
    """Return whether a word of a query has a letter that Russian lacks."""
    return any(not _UKRAINIAN_LETTERS.isdisjoint(part) for part in parts)


def with_accents(text: str) -> str:
    """Return `text` with composed letters, in lower case."""
    return unicodedata.normalize("NFC", text.lower())


def languages_of_letters(text: str) -> Sequence[str]:
    """Return the languages that have all letters with accents of the composed `text`, if there are such letters."""
    letters = {letter for letter in text if "\u00df" <= letter <= "\u1ef9" and letter not in "×÷\u0307"}
    return [language for language, alphabet in ALPHABETS.items() if letters and letters <= alphabet]


def language_of_runs(runs: Iterable[str]) -> str:
    """Return the language that the characters of runs without spaces identify, or an empty string."""
    characters = "".join(runs)
    return next((language for language, character in _CHARACTERS.items() if character.search(characters)), "")


class _Stemmers(local):
    """One stemmer of each language for each thread: a stemmer has state."""

    def __init__(self) -> None:
        self.by_language = {language: Stemmer.Stemmer(name, 0) for language, name in STEMMERS.items()}


_stemmers = _Stemmers()


def forms_of(language: str, word: str) -> tuple[str, ...]:
    """Return the forms by which a word is found: itself and its stem, for Arabic also without the article."""
    plain = _ARABIC_PREFIX.sub("", word) if language == "ar" else word
    stemmer = _stemmers.by_language.get(language)
    whole = plain
    if language in _UNFOLDED:
        unfolded = (ending.sub(accented, plain) for ending, accented in _UNFOLDED[language])
        whole = next((form for form in unfolded if form != plain), plain)
    if language == "ru":
        whole = whole.translate(_RUSSIAN_LETTERS)
    stem = stemmer.stemWord(whole) if stemmer else plain
    return word, plain, stem if len(stem) >= MIN_STEM or language in SCRIPTS else plain


COMPOUND_LANGUAGES = ("de", "nl")
"""Languages that write compounds as one word. Words of no known language may be of each of these."""

MAX_COMPOUND = 32
"""Letters of the longest word that is split."""

MIN_COMPOUND_PART = 4
"""Letters of the shortest part of a compound."""

MIN_LONE_PART = 5
"""Letters of the shortest part of a compound that stands for all of it."""

_LINKS = ("", "s", "es", "n", "en", "e")
"""Letters between the parts of a compound."""


def compound_parts(word: str) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the last part of each way to split a compound, the shortest first, and the forms of its first part."""
    for place in range(min(len(word), MAX_COMPOUND) - MIN_COMPOUND_PART, MIN_COMPOUND_PART - 1, -1):
        yield word[place:], _without_links(word[:place])


def _without_links(first: str) -> Iterator[str]:
    for link in _LINKS:
        if first.endswith(link) and len(first) - len(link) >= MIN_COMPOUND_PART:
            yield first[: len(first) - len(link)]


def lone_parts(word: str) -> Sequence[str]:
    """Return the beginnings and ends of a compound that may stand for all of it, the longest first."""
    if len(word) > MAX_COMPOUND:
        return ()
    pieces = {piece for end in range(MIN_LONE_PART, len(word) - 2) for piece in (word[:end], word[-end:])}
    return sorted(pieces, key=lambda piece: (-len(piece), piece))


MIN_COMMON, MAX_ENDINGS, NEIGHBOURS = 5, 5, 12
"""Letters that two forms of a word have in common at least, letters of their endings together at most, and words that
are compared, to each side in the order of the letters."""


def nearest_form(word: str, ordered: Sequence[str]) -> str:
    """Return the word of the sorted `ordered` words that differs least from `word`, in its ending only, or nothing."""
    place = bisect_left(ordered, word)
    best, least = "", MAX_ENDINGS + 1
    for other in ordered[max(place - NEIGHBOURS, 0) : place + NEIGHBOURS]:
        common = Prefix.similarity(word, other)
        endings = len(word) + len(other) - 2 * common
        if common >= MIN_COMMON and endings < least and 2 * endings <= common:
            best, least = other, endings
    return best


cached_forms = lru_cache(maxsize=4_096)(forms_of)
