"""Cached look-ups of single words in the lexicon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import lru_cache

from .analysis import stem
from .word_forms import cached_forms, forms_of

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
            return [each for each, words in every if word in words or word in stems[each] or word in starts[each]]

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
