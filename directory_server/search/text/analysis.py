"""Text to tokens and tokens to terms, the same for entries and for queries.

Text is folded: compatibility forms (NFKC: full-width letters, half-width kana), letter case, diacritics, traditional
Chinese characters. Scripts that put spaces between words give words; a name made of several (`home-assistant`,
`fileScope`) gives its parts and their joined form. Scripts that do not (Chinese, Japanese, Korean with its particles,
Thai, Lao, Khmer, Burmese) give overlapping pairs of characters. What is in neither, such as punctuation, control
characters and lone surrogates, only separates. A token is what is written; a term is its stem, which is indexed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import chain, repeat
from threading import local

import Stemmer
from attrs import frozen
from opencc import OpenCC

MAX_TEXT = 40_000
"""Characters of one text that are analysed, counted before folding and again after it; the rest is ignored."""

MAX_TOKEN = 64
"""Characters of a token; the rest is cut, in entries and queries alike."""

MAX_KEY = 200
"""Characters of a key: as many as a server's name may have."""

MAX_JOINED = 4
"""Parts that are joined into one more token; a longer chain is a path or an address and not a name."""

CACHED_RUN = 32
"""Characters of the longest run of letters whose tokens are cached. Longer ones are seldom met twice."""

COMMON_PARTS = frozenset({"mcp", "server", "mcpserver"})
"""The parts that half of all names share, and that make none of them another name."""

_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSEGMENTED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff"  # Thai and Lao, Burmese, Hangul letters, Khmer
    r"\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # 々〆〇, kana without the middle dot
    rf"\uac00-\ud7a3{_HAN}"  # Hangul syllables
)
_LETTER = rf"[^\W_{_UNSEGMENTED}]"
_RUN = re.compile(rf"[{_UNSEGMENTED}]+|{_LETTER}+(?:[-_./+]{_LETTER}+)*")
_IS_UNSEGMENTED = re.compile(rf"[{_UNSEGMENTED}]")
_HAN_CHARACTER = re.compile(rf"[{_HAN}]")
_PLAIN = re.compile(r"[\x00-\x7f–—‘’“”•→]*")
"""What folding leaves alone, and nearly all English is."""

_SEPARATOR = re.compile(r"[-_./+]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DIACRITIC = re.compile(r"[\u0300-\u036f]")


@frozen
class Word:
    """One run of letters, folded: the parts of a name, or a whole run of a script without spaces."""

    parts: tuple[str, ...]
    spaced: bool = True

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens that stand for the word together: its parts, or its overlapping pairs."""
        if self.spaced:
            return self.parts
        run = self.parts[0]
        return tuple(run[i : i + 2] for i in range(len(run) - 1)) or (run,)

    @property
    def joined(self) -> str:
        """The token that stands for the word alone, where its parts make one name; else empty."""
        return "".join(self.parts)[:MAX_TOKEN] if 1 < len(self.parts) <= MAX_JOINED else ""


def words(text: str, *, humps: bool) -> list[Word]:
    """Return the words of `text`; `humps` splits `fileScope` too, which is right for names and wrong for prose."""
    return [_word(run, humps) for run in _runs(text)]


def tokens(text: str, *, humps: bool = False) -> list[str]:
    """Return the tokens an entry is found by for holding `text`."""
    return list(chain.from_iterable(map(_tokens, _runs(text), repeat(humps))))


def fold(text: str) -> str:
    """Return `text` without differences of form that make no other word, letter case apart."""
    if _PLAIN.fullmatch(text):
        return text
    plain = unicodedata.normalize("NFKC", _DIACRITIC.sub("", unicodedata.normalize("NFKD", text)))
    return plain.translate(_simplified()) if _HAN_CHARACTER.search(plain) else plain


def key(names: Iterable[Word], *, without: frozenset[str] = frozenset()) -> str:
    """Return what names are the same by, however they are spaced: their parts run together, but those in `without`."""
    return "".join(part for word in names for part in word.parts if part not in without)[:MAX_KEY]


def is_unsegmented(token: str) -> bool:
    """Tell whether a token is of a script without spaces."""
    return _IS_UNSEGMENTED.match(token) is not None


def stem(token: str) -> str:
    """Return the term for a token: without its English ending (Porter, Snowball 2001). What is no word stays."""
    if not (token.isascii() and token.isalnum()):
        return token
    stemmed = _stemmed(token) if len(token) <= MAX_TOKEN else token
    # Most words are their own stems: one string for both saves memory where many are kept.
    return token if stemmed == token else stemmed


@lru_cache(maxsize=4_096)
def _stemmed(word: str) -> str:
    stemmed: str = _stemmers.english.stemWord(word)
    return stemmed


class _Stemmers(local):
    """One stemmer for each thread: they have state."""

    def __init__(self) -> None:
        # Without a cache of its own: what is stemmed often is kept by those who ask.
        self.english = Stemmer.Stemmer("english", 0)


_stemmers = _Stemmers()


def _runs(text: str) -> list[str]:
    """Return the runs of letters in `text`, in one script each, with what joins the parts of a name."""
    # One character may become 18 (U+FDFA).
    return _RUN.findall(fold(text[:MAX_TEXT])[:MAX_TEXT])


def _tokens(run: str, humps: bool) -> tuple[str, ...]:
    # Runs of scripts without spaces are of any length, and hardly any of them comes again.
    if len(run) > CACHED_RUN or _IS_UNSEGMENTED.match(run):
        return _tokens_of(run, humps)
    return _cached_tokens(run, humps)


def _tokens_of(run: str, humps: bool) -> tuple[str, ...]:
    word = _word(run, humps)
    return (*word.tokens, word.joined) if word.joined else word.tokens


# Nearly all words of an entry are among the some ten thousand that others have too. At most about 20 MB.
_cached_tokens = lru_cache(maxsize=16_384)(_tokens_of)


def _word(run: str, humps: bool) -> Word:
    if _IS_UNSEGMENTED.match(run):
        return Word((run,), spaced=False)
    pieces = _SEPARATOR.split(run)
    if humps and not run.islower():
        pieces = [hump for piece in pieces for hump in _HUMP.split(piece)]
    return Word(tuple(piece.casefold()[:MAX_TOKEN] for piece in pieces))


@cache
def _simplified() -> dict[int, str]:
    """Return the simplified form of each traditional Chinese character that has one."""
    characters = [chr(code) for code in range(0x4E00, 0xA000)]
    forms = OpenCC("t2s").convert("\n".join(characters)).split("\n")
    return {ord(old): new for old, new in zip(characters, forms, strict=True) if old != new and len(new) == 1}
