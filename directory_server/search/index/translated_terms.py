"""Special terms of entries: their conversions, and English words for texts in Chinese, Japanese or Korean only.

A conversion is what an entry converts, and to what (see `text.conversions`). The English words are those that the
lexicon has. They are no words of the entry: queries in these scripts, the learnt lexicon and the frequencies of English
words do not depend on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from ..text.analysis import MAX_KEY, Word, stem, words
from ..text.conversions import conversions
from ..text.translation_tables import translations

TRANSLATED = "\0english:"
"""The prefix of the special term of an English word."""

MAX_CHARACTERS = 1_000
"""Characters of a text that are translated."""

MAX_TERMS = 80
"""English words of an entry."""

FOREIGN_SHARE = 0.25
"""The share of its letters that are of scripts without spaces, below which a text is in a language with spaces."""

MIN_WORDS = 4
"""Words with spaces of the shortest text that is in such a language. A shorter one may be a name."""


def translated_term(word: str) -> str:
    """Return the special term of an English word."""
    return TRANSLATED + stem(word)


def translated_terms(texts: Iterable[str]) -> set[str]:
    """Return the special terms of an entry with these texts, none if one of them is in a language with spaces.

    They depend on the table of senses: a new table needs another number of the analysis (see `packing`).
    """
    parts = [text[:MAX_CHARACTERS] for text in texts if text]
    # Most entries are in English.
    if all(map(str.isascii, parts)):
        return set()
    read = [words(text, humps=False) for text in parts]
    if any(map(_is_spaced, read)):
        return set()
    return set(islice(dict.fromkeys(map(translated_term, _translated(read))), MAX_TERMS))


def _is_spaced(text: list[Word]) -> bool:
    foreign = sum(len(word.parts[0]) for word in text if not word.spaced)
    parts = [part for word in text if word.spaced for part in word.parts]
    return len(parts) >= MIN_WORDS and foreign < FOREIGN_SHARE * (foreign + sum(map(len, parts)))


def _translated(texts: Iterable[list[Word]]) -> Iterator[str]:
    """Yield the English words for the runs of scripts without spaces: of each sense, the most common expression."""
    for run in (word.parts[0] for text in texts for word in text if not word.spaced):
        for match in translations().in_run(run):
            yield from (word for sense in match.senses for word in sense[0])


CONVERSION = "\0into:"
"""The prefix of the terms."""

MAX_TEXT = 4_000
"""Characters of a text in which conversions are looked for."""

MAX_CONVERSIONS = 64
"""Conversions of an entry that are searched. One of 25,984 real entries has more."""


def conversion_terms(names: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Return the special terms of the conversions that the `names` and `texts` of an entry state."""
    found = conversions("\n".join(names), is_name=True).union(*(conversions(text[:MAX_TEXT]) for text in texts))
    return sorted(conversion_term(*pair) for pair in found)[:MAX_CONVERSIONS]


def conversion_term(source: str, target: str) -> str:
    """Return the special term of the conversion of `source` to `target`."""
    return f"{CONVERSION}{source} {target}"[:MAX_KEY]
