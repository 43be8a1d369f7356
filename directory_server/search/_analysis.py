"""Text to terms, the same for entries and for queries, whatever engine keeps them.

Text is folded: compatibility forms (NFKC: full-width letters, half-width kana), letter case, diacritics. Scripts that
put spaces between words give words; a name made of several (`home-assistant`, `fileScope`) gives its parts and their
joined form. Scripts that do not (Chinese, Japanese, Korean with its particles, Thai, Lao, Khmer, Burmese) give
overlapping pairs of characters, since any dictionary of their words would be larger than all else here. What is in
neither, such as punctuation, control characters and lone surrogates, only separates.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from attrs import frozen

MAX_TERM = 64
"""Characters of a term; the rest is cut, in entries and queries alike."""

MAX_KEY = 200
"""Characters of a key: as many as a server's name may have."""

MAX_JOINED = 4
"""Parts that are joined into one more term; a longer chain is a path or an address and not a name."""

_UNSEGMENTED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff"  # Thai and Lao, Burmese, Hangul letters, Khmer
    r"\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # 々〆〇, kana without the middle dot
    r"\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"  # Han, Hangul syllables
)
_LETTER = rf"[^\W_{_UNSEGMENTED}]"
_RUN = re.compile(rf"[{_UNSEGMENTED}]+|{_LETTER}+(?:[-_./]{_LETTER}+)*")
_IS_UNSEGMENTED = re.compile(rf"[{_UNSEGMENTED}]")
_SEPARATOR = re.compile(r"[-_./]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DIACRITIC = re.compile(r"[\u0300-\u036f]")
_SINGULAR_IN_S = frozenset({"news", "always", "canvas", "atlas", "pandas", "postgres", "kubernetes", "jenkins"})


@frozen
class Word:
    """One run of letters, folded: the parts of a name, or a whole run of a script without spaces."""

    parts: tuple[str, ...]
    spaced: bool = True

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms that stand for the word together: its stemmed parts, or its overlapping pairs."""
        if self.spaced:
            return tuple(stem(part) for part in self.parts)
        run = self.parts[0]
        return tuple(run[i : i + 2] for i in range(len(run) - 1)) or (run,)

    @property
    def joined(self) -> str:
        """The term that stands for the word alone, where its parts make one name; else empty."""
        return stem("".join(self.parts))[:MAX_TERM] if 1 < len(self.parts) <= MAX_JOINED else ""


def words(text: str, *, humps: bool) -> Iterator[Word]:
    """Yield the words of `text`; `humps` splits `fileScope` too, which is right for names and wrong for prose."""
    return (_word(run, humps) for run in _runs(text))


def terms(text: str, *, humps: bool = False) -> list[str]:
    """Return the terms an entry is found by for holding `text`."""
    return [term for run in _runs(text) for term in _terms(run, humps)]


def key(names: Iterable[Word], *, without: frozenset[str] = frozenset()) -> str:
    """Return what names are the same by, however they are spaced: their parts run together, but those in `without`."""
    return "".join(part for word in names for part in word.parts if part not in without)[:MAX_KEY]


def stem(word: str) -> str:
    """Return `word` without the ending of an English plural (Harman's S-stemmer, 1991, with `-es` of sibilants)."""
    if len(word) < 4 or word[-1] != "s" or word.endswith(("ss", "us", "is")) or word in _SINGULAR_IN_S:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    return word[:-1]


def _runs(text: str) -> list[str]:
    return _RUN.findall(text if text.isascii() else _without_diacritics(text))


def _word(run: str, humps: bool) -> Word:
    if _IS_UNSEGMENTED.match(run):
        return Word((run,), spaced=False)
    pieces = _SEPARATOR.split(run)
    if humps and not run.islower():
        pieces = [hump for piece in pieces for hump in _HUMP.split(piece)]
    return Word(tuple(piece.casefold()[:MAX_TERM] for piece in pieces))


# Nearly all words of an entry are among the some ten thousand that others have too.
@lru_cache(maxsize=32_768)
def _terms(run: str, humps: bool) -> tuple[str, ...]:
    word = _word(run, humps)
    return (*word.terms, word.joined) if word.joined else word.terms


def _without_diacritics(text: str) -> str:
    return unicodedata.normalize("NFKC", _DIACRITIC.sub("", unicodedata.normalize("NFKD", text)))
