"""The plain form of a text: written with entities, accents, markup or gaps inside its words, it has other words."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from html import unescape
from operator import attrgetter

import regex
from attrs import frozen

from ..texts.sanitize import normalize
from .shapes import LOOK_ALIKES
from .words import rules

_ENTITY = re.compile(r"&(?:#(?:x[0-9a-f]{1,6}|[0-9]{1,7});?|[a-z][a-z0-9]{1,31};)", re.I)

_FOREIGN_LETTERS = regex.compile(
    r"[[\p{L}\p{M}\p{So}\p{Default_Ignorable_Code_Point}]--[\x00-\x7F]]+",
    regex.V1,
)

_UNWRITTEN = regex.compile(r"[\p{M}\p{Default_Ignorable_Code_Point}]+", regex.V1)

_EMPHASIS = re.compile(r"(?<![\w~])[_~]++(?=[A-Za-z])|(?<=[A-Za-z])[_~]++(?!\w)")
"""Emphasis around words. Tokens of the scanner have no asterisks and backticks."""

_INSIDE = r"(?:[*_`~]|</?[A-Za-z][A-Za-z0-9]{0,9}>|<!--[^<>]{0,64}-->)++|-\n?"
"""Markup or a hyphen inside a word."""

# Possessive quantifiers, and a start only where a word begins: the time is linear in the text.
_PARTED = re.compile(
    rf"(?<![A-Za-z])(?:[A-Za-z]++(?:(?:{_INSIDE})[A-Za-z]++)++|[A-Za-z](?:[^\w\n][A-Za-z](?![A-Za-z]))++)"
)
"""Words with markup or a hyphen inside, and runs of single letters with one character between two of them."""

_PART = re.compile(rf"(?:{_INSIDE})|([A-Za-z]++)")


@frozen
class _Edit:
    """A part of a text, and the place of what replaces it in the new text."""

    old_start: int
    old_end: int
    start: int
    end: int


@frozen
class Canonical:
    """The plain form of a text, and the edits of each step that made it, in their order."""

    text: str
    steps: Sequence[Sequence[_Edit]]

    def span_in_text(self, start: int, end: int) -> tuple[int, int]:
        """Return the positions in the original text of a span of this form, with all of the parts that it touches."""
        for edits in reversed(self.steps):
            first = bisect_right(edits, start, key=attrgetter("start")) - 1
            last = bisect_left(edits, end, key=attrgetter("start")) - 1
            if first >= 0:
                edit = edits[first]
                start = edit.old_start if start < edit.end else edit.old_end + start - edit.end
            if last >= 0:
                edit = edits[last]
                end = edit.old_end + max(0, end - edit.end)
        return start, end


def canonical_form(text: str, limit: int) -> Canonical | None:
    """Return the plain form of `text`, at most `limit` characters, or None if it is the text.

    HTML entities are decoded, twice. Letters lose their accents, and those that look like Latin ones become these.
    Emphasis around words goes. Parts of a word with markup, a hyphen or a gap between them are joined if they are a
    word of the rules.
    """
    steps = []
    for edits_of in (_entities, _entities, _plain_letters, _emphasis, _joined_words):
        edits, pieces, end, length = list[_Edit](), list[str](), 0, 0
        for start, stop, new in edits_of(text):
            pieces += (text[end:start], new)
            length += start - end
            edits.append(_Edit(start, stop, length, length + len(new)))
            end, length = stop, length + len(new)
            if length > limit:
                break
        if edits:
            text = ("".join(pieces) + text[end:])[:limit]
            steps.append(edits)
    return Canonical(text, steps) if steps else None


Replacement = tuple[int, int, str]
"""Start and end of a part of a text, and what replaces it."""


def _entities(text: str) -> Iterator[Replacement]:
    """Yield the entities of a text, decoded."""
    for match in _ENTITY.finditer(text) if "&" in text else ():
        decoded = unescape(match[0])
        if decoded != match[0]:
            yield *match.span(), decoded


def _plain_letters(text: str) -> Iterator[Replacement]:
    """Yield the letters that are ASCII without accents, or look like it, and characters that are only accents."""
    for match in _FOREIGN_LETTERS.finditer(text) if not text.isascii() else ():
        plain = _UNWRITTEN.sub("", normalize("NFKD", match[0])).translate(LOOK_ALIKES)
        if plain.isascii():
            yield *match.span(), plain


def _emphasis(text: str) -> Iterator[Replacement]:
    """Yield the emphasis around words, which becomes nothing."""
    for match in _EMPHASIS.finditer(text) if "_" in text or "~" in text else ():
        yield *match.span(), ""


def _joined_words(text: str) -> Iterator[Replacement]:
    """Yield the words of the rules that are written in parts, and spaces between them and the parts beside them."""
    for chunk in _PARTED.finditer(text):
        found = (part.span(1) for part in _PART.finditer(text, *chunk.span()) if part[1])
        parts = [(start, end, text[start:end]) for start, end in found]
        number, end, is_apart = 0, chunk.start(), True
        while number < len(parts):
            start = parts[number][0]
            words = [word for _, _, word in parts[number : number + rules().longest]]
            count = _parts_of_word(words)
            if not (is_apart and count == 0) and start > end:
                yield end, start, " "
            number += max(count, 1)
            end, is_apart = parts[number - 1][1], count == 0
            if count:
                yield start, end, "".join(words[:count])


def _parts_of_word(parts: Sequence[str]) -> int:
    """Return how many of the first `parts` are the longest word of the rules, 0 if there is none of several parts."""
    word, longest = "", 0
    for count, part in enumerate(parts, 1):
        word += part.lower()
        if count > 1 and word in rules().vocabulary:
            longest = count
        if word not in rules().beginnings:
            break
    return longest
