"""Languages of queries: their scripts and letters, and the forms by which the lexicon has their words."""

from __future__ import annotations

import re
from functools import lru_cache
from threading import local

import Stemmer

from ...texts.sanitize import normalize

STEMMERS = {
    "de": "german", "es": "spanish", "fr": "french", "pt": "portuguese", "it": "italian", "ru": "russian",
    "ar": "arabic", "hi": "hindi", "tr": "turkish", "id": "indonesian", "pl": "polish",
    "nl": "dutch",
}  # fmt: skip
"""Snowball algorithms of languages."""

VIETNAMESE = "vi"
"""A language whose words have no endings."""

LANGUAGES = (*STEMMERS, VIETNAMESE)

UNSPACED, NAMES = "x", "name"
"""The languages, in keys of the lexicon, of scripts without spaces, and of names of services in any language."""

SCRIPTS = {
    "ru": re.compile(r"[\u0400-\u04ff]"),
    "ar": re.compile(r"[\u0600-\u06ff]"),
    "hi": re.compile(r"[\u0900-\u097f]"),
}
"""Scripts that identify a language."""

COUNTRIES = {
    "de": "german germany", "es": "spanish spain", "fr": "french france", "pt": "brazil brazilian portugal",
    "it": "italian italy", "ru": "russian russia", "ar": "arabic arab", "hi": "india indian", "tr": "turkish turkey",
    "id": "indonesia indonesian", "pl": "polish poland", "nl": "dutch netherlands", "vi": "vietnam vietnamese",
    "zh": "china chinese", "ja": "japan japanese", "ko": "korea korean",
}  # fmt: skip
"""What servers are called that are for the country of a language."""

_CHARACTERS = {"ko": re.compile("[\uac00-\ud7a3]"), "ja": re.compile("[\u3041-\u30ff]")}
"""Characters of languages that are written without spaces, or with Chinese ones."""

LEXICONS = {"uk": "ru"}
"""The language that the lexicon has the words of another language in."""

COMPOUNDING = frozenset({"de", "nl"})
"""Languages that write compounds as one word."""

_RUSSIAN_LETTERS = str.maketrans("іїєґ", "ииег")
"""Russian letters for those that it lacks, so that its stemmer knows Ukrainian endings."""

ALPHABETS = {
    language: frozenset(letters)
    for language, letters in {
        "de": "äöüß", "es": "áéíñóúü", "fr": "àâæçèéêëîïôùûüÿœ", "it": "àèéìíòóùú", "pt": "àáâãçéêíóôõúü",
        "pl": "ąćęłńóśźż", "tr": "âçğıîöşûü", "nl": "éëïóöü",
        "vi": "àáâãèéêìíòóôõùúýăđĩũơư" + "".join(map(chr, range(0x1EA0, 0x1EFA))),
    }.items()
}  # fmt: skip
"""The letters of languages that English does not have."""

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


class _Stemmers(local):
    """One stemmer of each language for each thread: a stemmer has state."""

    def __init__(self) -> None:
        self.by_language = {language: Stemmer.Stemmer(name, 0) for language, name in STEMMERS.items()}


_stemmers = _Stemmers()


def language_of_script(word: str) -> str:
    """Return the language that the script of a word identifies, or an empty string."""
    if word.isascii():
        return ""
    return next((language for language, script in SCRIPTS.items() if script.match(word)), "")


def language_of_run(run: str) -> str:
    """Return the language that the characters of a run without spaces identify."""
    return next((language for language, characters in _CHARACTERS.items() if characters.search(run)), "zh")


def foreign_letters(text: str) -> frozenset[str]:
    """Return the letters of `text` in lower case, accents included, that English does not have."""
    if text.isascii():
        return frozenset()
    composed = normalize("NFC", text.lower())
    return frozenset(letter for letter in composed if "\u00df" <= letter <= "\u1ef9" and letter not in "×÷\u0307")


@lru_cache(maxsize=4_096)
def forms_of(language: str, word: str) -> tuple[str, ...]:
    """Return the forms by which a word is found, without repetitions: itself, its stem, and its bases."""
    plain = _ARABIC_PREFIX.sub("", word) if language == "ar" else word
    stemmer = _stemmers.by_language.get(language)
    whole = plain
    if language in _UNFOLDED:
        unfolded = (ending.sub(accented, plain) for ending, accented in _UNFOLDED[language])
        whole = next((form for form in unfolded if form != plain), plain)
    if language == "ru":
        whole = whole.translate(_RUSSIAN_LETTERS)
    stem = stemmer.stemWord(whole) if stemmer else plain
    return tuple(dict.fromkeys((word, plain, stem if len(stem) >= MIN_STEM or language in SCRIPTS else plain)))


def bases_of(language: str, word: str) -> tuple[str, ...]:
    """Return the words of which `word` may be an inflected form that its stemmer does not know, the longest first."""
    if language == "tr":
        lengths = range(len(word) - 1, MIN_STEM - 2, -1)
        return tuple(word[:length] for length in lengths if _TURKISH_ENDING.fullmatch(word, length))
    return tuple(word[:length] for length in range(len(word) - 1, max(len(word) - 4, 5) - 1, -1))
