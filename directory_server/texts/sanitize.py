"""Remove characters from untrusted text that are invisible, reorder text, or control a terminal.

Characters are selected by Unicode properties of the `regex` library, which has a recent version of Unicode. The
standard library's `unicodedata` lacks Default_Ignorable_Code_Point and Joining_Type.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any, Literal

import regex

_PICTOGRAPH = r"[\p{Extended_Pictographic}&&\P{Cn}]"

_KEPT = "|".join(
    (
        # Emoji presentation, and keycaps such as 1️⃣ (UTS #51, sections 1.4.3 and 1.4.6).
        r"(?<=[\p{Emoji}--[0-9#*]])[\uFE0E\uFE0F]",
        r"(?<=[0-9#*])\uFE0F(?=\u20E3)",
        # Emoji that are joined to one (UTS #51, section 1.4.9).
        rf"(?<={_PICTOGRAPH}(?:\uFE0F|\p{{Emoji_Modifier}})?)\u200D(?={_PICTOGRAPH})",
        # Joiners that choose the form of a letter: after a virama, and between Arabic letters (RFC 5892, A.1 and A.2).
        r"(?<=\p{ccc=9})[\u200C\u200D]",
        r"(?<=[\p{jt=L}\p{jt=D}]\p{jt=T}{0,3})\u200C(?=\p{jt=T}{0,3}[\p{jt=R}\p{jt=D}])",
        # Bengali writes ya-phalaa after ra so (The Unicode Standard, section 12.2).
        r"(?<=\p{L})\u200D(?=\p{ccc=9})",
    )
)
"""Contexts in which an invisible character changes the visible text, and is kept."""

# Prepended concatenation marks such as the Arabic end of ayah are visible format characters.
_INVISIBLE = r"[[\p{Cf}\p{Default_Ignorable_Code_Point}]--\p{Prepended_Concatenation_Mark}]"

# No Unicode property tells that a glyph is empty. A test compares the names of all characters with this class.
_BLANK = r"[\u2800\uFFFC\U00013441\U00013442\U00016FE4\U0001D159]"
"""Symbols, letters and marks without ink: empty braille cell, object replacement, fillers, null notehead."""

_UNSAFE = regex.compile(
    rf"(?=[\p{{C}}\p{{Zl}}\p{{Zp}}\p{{Default_Ignorable_Code_Point}}{_BLANK}])"
    rf"(?:(?P<kept>[\t\n]|{_KEPT})|(?P<invisible>{_INVISIBLE}+)"
    rf"|(?P<blank>{_BLANK}+)"
    r"|(?P<newline>\r\n?|[\v\f\x1C-\x1E\x85\p{Zl}\p{Zp}])"
    r"|(?P<unknown>[[\p{Cc}\p{Co}\p{Cn}\p{Cs}]--[\t\n]]+))",
    regex.V1,
)

_IGNORABLE = regex.compile(rf"[\p{{Default_Ignorable_Code_Point}}{_BLANK}]+", regex.V1)

_VISIBLE = regex.compile(
    rf"[[\x20\p{{L}}\p{{M}}\p{{N}}\p{{P}}\p{{Sm}}\p{{Sc}}\p{{Sk}}]--[\p{{Default_Ignorable_Code_Point}}{_BLANK}]]*",
    regex.V1,
)

_HIDDEN = regex.compile(r"[\p{Cc}\p{Co}]", regex.V1)
"""Private-use characters and controls. Unassigned characters may be letters of a later Unicode."""

_RIGHT_TO_LEFT = regex.compile(r"[\p{Hebrew}\p{Arabic}\p{Syriac}\p{Thaana}\p{Nko}]", regex.V1)

MAX_MARKS = 30
"""Combining marks in a row that are normalized: more take quadratic time (UAX #15, section 13)."""

_MANY_MARKS = regex.compile(rf"(\p{{M}}{{{MAX_MARKS}}})\p{{M}}+", regex.V1)

_TALL_STACK = regex.compile(r"(\p{M}{8})\p{M}+", regex.V1)
"""Combining marks in a row that cover lines above and below. Words of no language have more than eight."""

_MARKS = regex.compile(r"[\u200E\u200F\u061C\u2066-\u2069]+", regex.V1)
"""Marks and isolates of text with letters from right to left (UAX #9)."""

_SEPARATORS = regex.compile(
    r"[\xAD\uFE0E\uFE0F]|(?<![\s\S])\uFEFF"
    r"|(?<=[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}])\u200B(?=[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}])",
    regex.V1,
)
"""Soft hyphens, one selector of a presentation, byte order marks, and spaces without width between words of scripts
that have no other ones."""

_REPLACEMENTS = {"invisible": "", "blank": " ", "newline": "\n", "unknown": "\N{REPLACEMENT CHARACTER}"}

_MANY = 1_000
"""Unsafe characters in one text after which exceptions are not checked. A check takes two microseconds."""

_COST = 20
"""Characters that an unsafe character counts for in the limit of a value."""

_EXCESS = 2
"""Factor of the limit that is read of a text. Only hostile texts have more invisible characters."""

_SENTENCES = regex.compile(r"(?<=\w[^\W\d]|[^\w\s.])[.!?](?= )|[。！？]")
"""Ends of sentences. "1." and "e.g." are none."""

_OPEN_END = " ,;:—–-&(\u200c\u200d"
"""Characters that the last word of a shortened text does not end with."""

_NODE = 8
"""Characters that a number, boolean or null counts for, and each item of an array or object."""


def normalize(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """Return `text` in a normalization form, with at most MAX_MARKS combining marks in a row."""
    return unicodedata.normalize(form, _MANY_MARKS.sub(r"\1", text))


def clean(text: str) -> str:
    r"""Return `text` cleaned for display on several lines.

    Format characters and Default_Ignorable_Code_Point are removed, except in emoji sequences and for joiners of Arabic
    and Indic scripts. Line ends become `\n`. A run of control, private-use and unassigned characters and surrogates
    becomes one U+FFFD. Characters without ink become one space. Text is not normalised. The function is idempotent.
    """
    return text if _is_clean(text) else _cleaned(text, _MANY)[0]


def invisible_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of invisible and private-use characters and of controls that no script, emoji or line needs."""
    is_right_to_left = _RIGHT_TO_LEFT.search(text) is not None
    for match in _UNSAFE.finditer(text):
        hidden = match.lastgroup == "invisible" or (match.lastgroup == "unknown" and _HIDDEN.search(match[0]))
        is_mark = is_right_to_left and _MARKS.fullmatch(match[0])
        separator = _SEPARATORS.match(text, match.start())
        if hidden and not (is_mark or (separator and separator.end() == match.end())):
            yield match.span()


def clean_text(text: str, limit: int) -> str:
    """Return `text` cleaned, at most `limit` characters. A truncated text ends with an ellipsis."""
    return _cut(clean(text[: limit * _EXCESS]).strip(), limit, len(text) > limit * _EXCESS)


def without_stacks(text: str) -> str:
    """Return `text` with at most eight combining marks in a row, which do not cover other lines of a page."""
    return text if text.isascii() else _TALL_STACK.sub(r"\1", text)


def clean_line(text: str, limit: int) -> str:
    """Return `text` cleaned, on one line, at most `limit` characters. A truncated text ends with an ellipsis."""
    if len(text) <= limit and text.isascii() and text.isprintable() and "  " not in text and text == text.strip():
        return text
    head = text[: limit * _EXCESS]
    return _cut(" ".join(clean(head).split()), limit, len(text) > len(head))


def shorten(text: str, limit: int) -> str:
    """Return the beginning of a cleaned line, at most `limit` characters. It ends with a sentence, or a word and `…`.

    A text without spaces may end inside a word.
    """
    if len(text) <= limit:
        return text
    head = text[:limit]
    end = max((sentence.end() for sentence in _SENTENCES.finditer(head)), default=0)
    if end > limit // 4:
        return head[:end]
    words = head[:-1].rpartition(" ")[0]
    return f"{words.rstrip(_OPEN_END) if len(words) > limit // 2 else head[:-1]}…"


def is_visible(text: str) -> bool:
    """Return whether a reader sees each character of `text`, for values that programs read.

    Letters, marks, numbers, punctuation, symbols of mathematics and currency, and U+0020 are visible. Other spaces,
    format characters, and pictographs, which need invisible selectors, are not.
    """
    return _VISIBLE.fullmatch(text) is not None


class Cleaner:
    """Copy JSON values with all strings and member names cleaned, at most `limit` characters in total."""

    def __init__(self, limit: int) -> None:
        self.changed = False
        """Whether cleaning changed any string."""
        self._left = limit

    def copy(self, value: Any) -> Any:
        """Return a cleaned copy of `value`.

        Raises OverflowError above the limit. Each item and number counts for 8 characters.
        """
        self._left -= len(value) + _NODE if isinstance(value, str) else _NODE
        if self._left < 0:
            raise OverflowError
        if isinstance(value, str):
            return value if _is_clean(value) else self._clean(value)
        if isinstance(value, dict):
            return {self.copy(name): self.copy(member) for name, member in value.items()}
        if isinstance(value, list):
            return [self.copy(item) for item in value]
        return value

    def _clean(self, text: str) -> str:
        limit = min(_MANY, self._left // _COST + 1)
        cleaned, count = _cleaned(text, limit)
        self.changed = self.changed or cleaned != text
        self._left -= count * _COST
        if self._left < 0:
            raise OverflowError
        return cleaned


def _is_clean(text: str) -> bool:
    """Return whether `text` is safe. False also for some safe texts, which `_UNSAFE` then leaves unchanged."""
    flat = text.replace("\n", "").replace("\t", "")
    # isprintable() covers all unsafe characters but the ignorable ones. Python's Unicode version has fewer characters.
    return flat.isprintable() and (flat.isascii() or _IGNORABLE.search(flat) is None)


def _cleaned(text: str, limit: int) -> tuple[str, int]:
    """Return `text` cleaned, and the number of matches. With `most` matches, all unsafe characters are removed."""
    cleaned, count = _UNSAFE.subn(_replacement, text, count=limit)
    if count >= limit:
        return _IGNORABLE.sub("", "".join(filter(str.isprintable, text))), count
    return cleaned, count


def _replacement(match: Any) -> str:
    text: str = match[0]
    return _REPLACEMENTS.get(match.lastgroup, text)


def _cut(text: str, limit: int, longer: bool) -> str:
    if len(text) <= limit and not longer:
        return text
    # A trailing joiner has no effect.
    return text[: limit - 1].rstrip(" \n\t\u200c\u200d") + "…"
