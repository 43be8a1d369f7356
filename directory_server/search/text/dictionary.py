"""The dictionary: English words for the words of other languages, from open dictionaries.

It complements the lexicon (`translations`), which knows the words of the domain. The table is `data/dictionary.npz`,
which `search_data/dictionary.py` makes. `data/README.md` has its sources and licence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from .tables import Lazy, Texts, find_texts, read_arrays

RUNS = "x"
"""The language, in keys, of the words of scripts without spaces: Chinese, Japanese and Korean ones."""

LONGEST = 8
"""Characters of the longest word of such a script."""

MAX_RUN = 300
"""Characters of a run of such a script in which words are looked up."""

KEY_BYTES, ENGLISH_BYTES = 32, 24
"""Bytes of the longest key and of the longest English expression, in UTF-8."""

NOTHING = -1
"""The number of no expression."""


@frozen
class Translated:
    """English expressions for a word, the best first, and how rare the word is.

    The rarity is the negative decimal logarithm of the share of the word in texts of its language.
    """

    english: Sequence[str]
    rarity: float


@frozen(eq=False)
class Dictionary:
    """Keys, ordered by their bytes, and for each the numbers of its expressions in `english`, and ten times its rarity.

    A key is a language, a space, and a folded word or its stem. A row of `numbers` is filled up with NOTHING. `english`
    is ordered by its bytes.
    """

    keys: Texts
    numbers: NDArray[np.int32]
    rarities: NDArray[np.uint8]
    english: Texts

    def find(self, language: str, forms: Sequence[str]) -> Sequence[str]:
        """Return the English expressions for the first of `forms` that is a word of `language`."""
        known = self.find_all(language, forms)
        return next((known[form].english for form in forms if form in known), ())

    def find_all(self, language: str, words: Sequence[str]) -> Mapping[str, Translated]:
        """Return what the dictionary has for each of `words` that is a word of `language`."""
        places, are_known = find_texts([f"{language} {word}" for word in words], self.keys)
        return {words[at]: self._translated(int(places[at])) for at in np.flatnonzero(are_known).tolist()}

    def words_in(self, run: str) -> Mapping[str, Translated]:
        """Return what the dictionary has for the words of at least two characters in a run without spaces."""
        run = run[:MAX_RUN]
        spans = {run[at:end] for at in range(len(run)) for end in range(at + 2, min(at + LONGEST, len(run)) + 1)}
        return self.find_all(RUNS, [*spans])

    def has(self, words: Sequence[tuple[str, str]]) -> Sequence[bool]:
        """Return whether each of `words`, a language and a form, is a word of that language."""
        are_known: list[bool] = find_texts([" ".join(word) for word in words], self.keys)[1].tolist()
        return are_known

    def without_english(self, words: Sequence[str]) -> Sequence[str]:
        """Return those of `words` that are no English expressions of the dictionary."""
        are_english = find_texts(words, self.english)[1]
        return [word for word, is_english in zip(words, are_english.tolist(), strict=True) if not is_english]

    def _translated(self, place: int) -> Translated:
        english = [self.english[number].decode() for number in self.numbers[place].tolist() if number != NOTHING]
        return Translated(english, float(self.rarities[place]) / 10)


def _load() -> Dictionary:
    return Dictionary(**read_arrays("dictionary.npz"))


dictionary = Lazy(_load)
"""Return the dictionary of the package. The first call takes about 0.1 seconds."""
