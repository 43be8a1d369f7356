"""Words of other languages in Latin letters: loanwords, a key of English words that sound alike, and Pinyin.

Loanwords are in katakana, Cyrillic and Devanagari. Pinyin of Chinese characters is from data/pinyin.tsv: each line has
a syllable without tone, and the characters whose most common reading it is, from pypinyin (MIT licence). The module
pypinyin is not used: it takes 9 MB and .3 seconds.
"""

from __future__ import annotations

import re
import tomllib
from array import array
from collections.abc import Mapping, Sequence, Set
from functools import cache, lru_cache

from .analysis import stem
from .tables import read_table
from .word_forms import cached_forms, forms_of

_LETTERS: Mapping[str, str] = dict(
    pair.split("=") for pairs in tomllib.loads(read_table("letters.toml")).values() for pair in pairs.split()
)
"""Latin letters for those of katakana, Cyrillic and Devanagari."""

_SOUNDS = [
    (re.compile(spelling), sound)
    for spelling, sound in (
        ("[tsc]ion|cian", "sn"), ("ph", "f"), ("gh", ""), ("ck|q", "k"), ("sch", "sk"), ("x", "ks"), ("t?ch", "C"),
        ("[sz]h", "s"), ("ts", "t"), ("th", "s"), ("c(?=[eiy])", "s"), ("c", "k"), ("dg|g(?=[ey])", "j"), ("ng$", "n"),
        ("ngu$", "n"), ("^[aeiouwy]+", "A"), ("[aeiouwy]", ""), ("[jz]", "s"), ("l", "r"), ("v", "b"), ("m", "n"),
        (r"(.)\1+", r"\1"),
    )
]  # fmt: skip
"""Spellings, and letters for the sounds of each that loanwords do not keep apart. Vowels count at the beginning."""

_SILENT_R = re.compile("r(?![aeiouy])")

_CONTRACTED = re.compile("[aeiou]-")


def romanised(word: str) -> str:
    """Return a word of katakana, Cyrillic or Devanagari in Latin letters; other letters are unchanged."""
    letters: list[str] = []
    for character in word:
        # A Devanagari consonant has the vowel a, unless a sign follows. Vowels do not count, so it is left out.
        letters.append(_LETTERS.get(character, character))
    return _CONTRACTED.sub("", "".join(letters))


def sound_key(word: str) -> str:
    """Return the key of the sound of a word in Latin letters. Words that sound alike have one key."""
    for spelling, sound in _SOUNDS:
        word = spelling.sub(sound, word)
    return word


def english_sound_keys(word: str) -> set[str]:
    """Return the keys of an English word, with r after vowels pronounced and silent."""
    return {sound_key(word), sound_key(_SILENT_R.sub("", word))}


_LAST = 0x323AF
"""The last code point with Chinese characters."""


def pinyin(run: str) -> list[str]:
    """Return the syllable of each character, without tones; empty for other characters than Chinese."""
    syllables, numbers = _table()
    return [syllables[numbers[ord(character)]] if ord(character) <= _LAST else "" for character in run]


@cache
def _table() -> tuple[list[str], array[int]]:
    """Return the syllables, and for each code point the number of its syllable; number 0 is empty."""
    syllables, numbers = [""], array("H", bytes(2 * (_LAST + 1)))
    for line in read_table("pinyin.tsv").splitlines():
        syllable, _, characters = line.partition("\t")
        for character in characters:
            numbers[ord(character)] = len(syllables)
        syllables.append(syllable)
    return syllables, numbers


NAMES = "name"
"""The language of names that are written in Latin letters."""

CACHED = 4_096
"""Results of each kind that are cached, since queries share most words: at most about 1 MB of each kind."""


class SingleWords:
    """Look-ups of single words; see `Translations` for the arguments."""

    def __init__(
        self,
        stems: Mapping[str, Mapping[str, Sequence[int]]],
        starts: Mapping[str, Set[str]],
        function_words: Mapping[str, Set[str]],
        english: Set[str],
    ) -> None:
        @lru_cache(CACHED)
        def is_english(word: str) -> bool:
            return word in english or stem(word) in english

        @lru_cache(CACHED)
        def languages(word: str) -> Sequence[str]:
            every = function_words.items()
            return [
                language
                for language, words in every
                if word in words or word in stems[language] or word in starts[language]
            ]

        @lru_cache(CACHED)
        def senses(language: str, word: str) -> Sequence[int]:
            return next(filter(None, map(stems[language].get, cached_forms(language, word))), ())

        @lru_cache(CACHED)
        def is_plain(word: str) -> bool:
            if not word.isascii() or (languages(word) and not is_english(word)):
                return False
            return starts[NAMES].isdisjoint(forms_of(NAMES, word)) and not senses(NAMES, word)

        @lru_cache(CACHED)
        def senses_in_any(word: str) -> Sequence[int]:
            # Most words are of no language, and all forms of a word would fill the cache of forms.
            for language in function_words:
                known = stems[language]
                for form in forms_of(language, word):
                    if found := known.get(form):
                        return found
            return ()

        self.is_plain = is_plain
        """Return whether a word identifies no language, and is no name nor the beginning of one."""
        self.is_english = is_english
        """Return whether a word, or its stem, is English."""
        self.languages = languages
        """Return the languages with expressions that a Latin word is, or begins."""
        self.senses = senses
        """Return the senses of a word of a language."""
        self.senses_in_any = senses_in_any
        """Return the senses of a word in the first language that has it."""
