"""Text analysis: text to tokens and tokens to terms, the same for entries and queries.

Text is folded: compatibility forms (NFKC: full-width letters, half-width kana), letter case, diacritics, traditional
Chinese characters. Scripts that put spaces between words give words; a name made of several (`home-assistant`,
`fileScope`) gives its parts and their joined form. A name with symbols gives what people write without them: `C#`
csharp, `C++` cpp, `.NET` net and dotnet, `P&L` pnl, `A/B` ab. An address, a version or a range (`10.0.0.0/8`, `v1.2.3`)
is one token. Scripts without spaces (Chinese, Japanese, Korean with its particles, Thai, Lao, Khmer, Burmese) give
overlapping pairs of characters. A token is a folded word; a term is its stem, which is indexed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache, lru_cache
from itertools import chain, pairwise
from threading import local

import Stemmer
from opencc import OpenCC

from ..texts.sanitize import normalize

MAX_TEXT = 40_000
"""Characters of one text that are analysed, before folding and again after it. The rest is ignored."""

MAX_TOKEN = 64
"""Characters of a token. The rest is cut."""

MAX_KEY = 200
"""Characters of a key: the maximum length of a server's name."""

MAX_JOINED = 4
"""Parts of a name that are also joined into one token. A longer chain is a path or an address."""

CACHED_RUN = 32
"""Characters of the longest run of letters whose tokens are cached. Longer ones rarely repeat."""

COMMON_PARTS = frozenset({"mcp", "server", "mcpserver"})
"""Parts of about half of all names, which do not distinguish one name from another."""

_SPELT = {"#": "sharp", "++": "pp", ".": "dot", "&": "n", "/": ""}
"""What names without symbols have in their places: "csharp", "cpp", "dotnet", "pnl", "ab"."""

_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff"  # Thai and Lao, Burmese, Hangul letters, Khmer
    r"\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # 々〆〇, kana without the middle dot
    rf"\uac00-\ud7a3{_HAN}"  # Hangul syllables
)
_LETTER = rf"[^\W_{_UNSPACED}]"
_MARKS = r"\u0900-\u0903\u093a-\u0963\u0980-\u0983\u09bc-\u09e3\u0a01-\u0dff"
"""Vowel signs of Indian scripts, which are parts of words, though not letters to `re`."""

_NUMERIC = r"(?<![\w.])v?(?>\d+(?:\.\d+)+)(?:/\d++)?(?![\w.]*\w)"
"""A version, an address of four numbers or a range of addresses."""

_SYMBOLIC = (
    r"(?<![^\W_])[A-Za-z]\#(?![A-Za-z0-9_])|(?<![^\W_])[A-Za-z][A-Za-z0-9]{,9}\+\+(?![A-Za-z0-9_+])"
    r"|(?<![\w.*\\])\.[A-Za-z][A-Za-z0-9]{1,9}(?![^\W_])"
    r"|(?<![\w&])[A-Za-z]{1,3}&[A-Za-z]{1,2}[0-9]{,4}(?![\w&=;])|(?<![\w./&])[A-Za-z]/[A-Za-z](?![\w./])"
)
"""Names whose symbols tell them from other words: a letter with a sharp, a name with two plus signs or after a dot, and
letters joined by an ampersand or a slash."""

_LETTERS = rf"{_LETTER}+(?:[{_MARKS}]+{_LETTER}*)*"
_RUN = re.compile(
    # One Latin letter before a Chinese character is a part of the word, as in the name of a stock market.
    rf"(?:(?<![^\W_])[A-Za-z](?=[{_HAN}]))?[{_UNSPACED}]+|{_NUMERIC}|{_SYMBOLIC}|{_LETTERS}(?:[-_./+]{_LETTERS})*"
)
_SYMBOL = re.compile(r"([#&/.]|\+\+)")
_IS_NUMERIC = re.compile(_NUMERIC)
_IS_UNSPACED = re.compile(rf"[A-Za-z]?[{_UNSPACED}]")
_HAN_CHARACTER = re.compile(rf"[{_HAN}]")
_PLAIN = re.compile(r"[\x00-\x7f–—‘’“”•→]*")
"""Text that folding does not change, such as nearly all English."""

_SEPARATOR = re.compile(r"[-_./+]")
_HUMP = re.compile(
    # The plural of an acronym is one word ("APIs").
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z](?!s(?![a-z]))[a-z])"
    # A digit is a unit with the capitals after it ("3D", "2FA"), unless it ends a word ("base64URL").
    r"|(?<=[a-z][0-9])(?=[A-Z])|(?<=[a-z][0-9]{2})(?=[A-Z])"
)
_DIACRITIC = re.compile(r"[\u0300-\u036f\u0640\u064b-\u065f\u0670\u093c\u200c\u200d]")
"""Diacritics of Latin, Greek, Cyrillic, Arabic (with the lengthening stroke) and Devanagari, and invisible joiners."""

_BASE_LETTERS = str.maketrans(
    {"đ": "d", "Đ": "D", "ı": "i", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "ى": "ي", "ة": "ه"}
)
"""Letters with a stroke or without a dot, and Arabic final letters, which have no decomposition in Unicode."""

Run = tuple[tuple[str, ...], str]
"""A folded run of letters: its parts in lower case, and what they are called together, "" for a run of one part.

A run of a script without spaces is one part.
"""


def fold(text: str) -> str:
    """Return `text` in its folded form, with letter case unchanged."""
    if _PLAIN.fullmatch(text):
        return text
    plain = normalize("NFKC", _DIACRITIC.sub("", normalize("NFKD", text)))
    plain = plain.translate(_BASE_LETTERS)
    return plain.translate(_simplified()) if _HAN_CHARACTER.search(plain) else plain


def runs(text: str, *, humps: bool) -> list[Run]:
    """Return the runs of letters of `text`. `humps` also splits camelCase, which is for names and not for prose."""
    # Folding may expand one character to 18 (U+FDFA).
    return [_run(run, humps) for run in _RUN.findall(fold(text[:MAX_TEXT])[:MAX_TEXT])]


def tokens(text: str, *, humps: bool = False) -> list[str]:
    """Return the tokens of `text`: words, joined names, and pairs of characters."""
    split = _split_tokens if humps else _whole_tokens
    return [*chain.from_iterable(map(split, _RUN.findall(fold(text[:MAX_TEXT])[:MAX_TEXT])))]


def key(names: Iterable[Run], without: Collection[str] = ()) -> str:
    """Return the key by which names are compared: their parts without separators, those in `without` left out."""
    return "".join(part for parts, _ in names for part in parts if part not in without)[:MAX_KEY]


def phrase(text: str, limit: int = MAX_KEY) -> str:
    """Return the first `limit` characters of `text`, folded, in lower case and with white space collapsed."""
    return " ".join(fold(text[:limit]).casefold().split())[:limit]


def is_unspaced(token: str) -> bool:
    """Return whether a token is of a script without spaces."""
    return not token.isascii() and _IS_UNSPACED.match(token) is not None


def pairs(run: str) -> tuple[str, ...]:
    """Return the overlapping pairs of characters of a run."""
    return tuple(map("".join, pairwise(run))) or (run,)


def stem(token: str) -> str:
    """Return the term of a token: its English stem (Snowball "english", Porter 2001). Other tokens are unchanged."""
    return _stemmed(token) if token.isascii() and token.isalnum() and len(token) <= MAX_TOKEN else token


@lru_cache(maxsize=16_384)
def _stemmed(word: str) -> str:
    stemmed: str = _stemmers.english.stemWord(word)
    # Most words are their own stems: the same string object for both saves memory.
    return word if stemmed == word else stemmed


class _Stemmers(local):
    """One stemmer for each thread: a stemmer has state."""

    def __init__(self) -> None:
        # Without the stemmer's own cache: `_stemmed` has one.
        self.english = Stemmer.Stemmer("english", 0)


_stemmers = _Stemmers()


def _tokens_of(run: str, humps: bool) -> tuple[str, ...]:
    parts, joined = _split_run(run, humps)
    if is_unspaced(parts[0]):
        return pairs(parts[0])
    return (*parts, joined) if joined else parts


# Nearly all words of entries are among about ten thousand common ones. At most about 20 MB for each.
_cached_split = lru_cache(maxsize=16_384)(lambda run: _tokens_of(run, True))
_cached_whole = lru_cache(maxsize=16_384)(lambda run: _tokens_of(run, False))


def _split_tokens(run: str) -> tuple[str, ...]:
    return _cached_split(run) if len(run) <= CACHED_RUN else _tokens_of(run, True)


def _whole_tokens(run: str) -> tuple[str, ...]:
    return _cached_whole(run) if len(run) <= CACHED_RUN else _tokens_of(run, False)


def _run(run: str, humps: bool) -> Run:
    return _cached_run(run, humps) if len(run) <= CACHED_RUN else _split_run(run, humps)


def _split_run(run: str, humps: bool) -> Run:
    if _IS_UNSPACED.match(run):
        return (run.casefold(),), ""
    if _IS_NUMERIC.fullmatch(run):
        return (run.casefold()[:MAX_TOKEN],), ""
    if run[0] == "." or run[-1] in "#+" or "&" in run or (len(run) == 3 and run[1] == "/"):
        return _symbolic(run.casefold())
    pieces = _SEPARATOR.split(run)
    if humps and not run.islower():
        pieces = [hump for piece in pieces for hump in _HUMP.split(piece)]
    parts = tuple(piece.casefold()[:MAX_TOKEN] for piece in pieces)
    return parts, "".join(parts)[:MAX_TOKEN] if 1 < len(parts) <= MAX_JOINED else ""


_cached_run = lru_cache(maxsize=8_192)(_split_run)


def _symbolic(run: str) -> Run:
    """Return the run of a name with a symbol. Single letters are no words of their own."""
    first, symbol, second = _SYMBOL.split(run)
    parts = tuple(part for part in (first, second) if len(part) > 1)
    whole = first + ("" if symbol == "&" and parts else _SPELT[symbol]) + second
    return (parts, whole) if parts else ((whole,), "")


@cache
def _simplified() -> dict[int, str]:
    """Return the simplified form of each traditional Chinese character that has one."""
    characters = [chr(code) for code in range(0x4E00, 0xA000)]
    forms = OpenCC("t2s").convert("\n".join(characters)).split("\n")
    return {ord(old): new for old, new in zip(characters, forms, strict=True) if old != new and len(new) == 1}
