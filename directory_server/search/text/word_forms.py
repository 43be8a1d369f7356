"""Words of other languages: the language that a script tells, and the forms by which a word is looked up."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from threading import local

import Stemmer

STEMMERS = {
    "de": "german", "es": "spanish", "fr": "french", "pt": "portuguese", "it": "italian", "ru": "russian",
    "ar": "arabic", "hi": "hindi", "tr": "turkish", "id": "indonesian",
}  # fmt: skip
"""Snowball algorithms of languages."""

VIETNAMESE = "vi"
"""A language whose words have no endings."""

SCRIPTS = {
    "ru": re.compile(r"[\u0400-\u04ff]"),
    "ar": re.compile(r"[\u0600-\u06ff]"),
    "hi": re.compile(r"[\u0900-\u097f]"),
}
"""Scripts that tell a language."""

_CHARACTERS = {
    "ko": re.compile("[\uac00-\ud7a3]"),
    "ja": re.compile("[\u3041-\u30ff]"),
    "zh": re.compile("[\u3400-\u9fff]"),
}
"""Characters that tell a language, in this order: Japanese has Chinese ones, too."""

MIN_STEM = 4
"""Letters of the shortest stem of a Latin word. Shorter ones are also parts of names ("git")."""

_ARABIC_PREFIX = re.compile("^(?:[وفبك]?ال|لل|[وبل])(?=.{3})")
"""The article, conjunctions and prepositions that are written with an Arabic word."""


def language_of_script(part: str) -> str:
    """Return the language that the script of a word tells, or an empty string."""
    if part.isascii():
        return ""
    return next((language for language, script in SCRIPTS.items() if script.match(part)), "")


def language_of_runs(runs: Iterable[str]) -> str:
    """Return the language that the characters of runs without spaces tell, or an empty string."""
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
    stem = stemmer.stemWord(plain) if stemmer else plain
    return word, plain, stem if len(stem) >= MIN_STEM or language in SCRIPTS else plain


cached_forms = lru_cache(maxsize=4_096)(forms_of)
