"""Conversions that a text states: "HTML to Markdown" is not "Markdown to HTML", though the words are the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice, product, takewhile

from .analysis import fold, stem

MAX_SOURCES, MAX_TARGETS = 6, 3
"""Words before and after "to" that may name what is converted, and to what."""

NEAR = 8
"""Words between the verb and "to"."""

MAX_CONVERSIONS = 32
"""Conversions of one text."""

_ARROW = "→"
_WRITTEN = re.compile(r"(?<=[a-z])[-_](?:to|2)[-_](?=[a-z])|(?<=[a-z]{2})2(?=[a-z]{2})|[-=]>|→")
"""Ways to write a conversion in a name ("html-to-pdf", "html2pdf")."""

_PIECE = re.compile(rf"[^\W_]+|{_ARROW}|[.;:!?()\n]")
_MARKS = frozenset(".;:!?()\n")
_VERB = re.compile(
    r"conver[ts]|transform|turn(?:s|ed|ing)?$|translat|render|transcri[bp]|export|compil|chang(?:e|es|ing)$"
)
_STEMS = """
conver transform turn translat render transcri export compil chang
"""
_IN_TEXTS = (*_STEMS.split(), "-to-", ">", _ARROW)
_IN_NAMES = (" to ", " into ", "-to-", "_to_", "2", ">", _ARROW)
"""Parts of texts, and of names, of which each conversion has one: most texts have none."""

_STOP = """
a an and any as at between by for from in into my of on or the these this to with your
"""
_IGNORED = frozenset(_STOP.split())


def conversions(text: str, *, is_name: bool = False) -> set[tuple[str, str]]:
    """Return the stems of what is converted, and to what, in the conversions that `text` states.

    In prose a verb or noun of conversion stands near, because "to" has other meanings. A name needs none.
    """
    folded = fold(text).casefold()
    if not any(hint in folded for hint in (_IN_NAMES if is_name else _IN_TEXTS)):
        return set()
    pieces = _PIECE.findall(_WRITTEN.sub(f" {_ARROW} ", folded))
    found = (
        product(_words(pieces[max(at - MAX_SOURCES, 0) : at][::-1]), _words(pieces[at + 1 : at + 1 + MAX_TARGETS]))
        for at, piece in enumerate(pieces)
        if at and (piece == _ARROW or (piece in ("to", "into") and (is_name or _is_conversion(pieces, at))))
    )
    return {pair for pair in islice(chain.from_iterable(found), MAX_CONVERSIONS) if pair[0] != pair[1]}


def _is_conversion(pieces: list[str], at: int) -> bool:
    before, after = pieces[max(at - NEAR, 0) : at][::-1], pieces[at + 1 : at + MAX_TARGETS + 2]
    return any(_VERB.match(piece) for piece in chain(_phrase(before), _phrase(after)))


def _phrase(pieces: list[str]) -> Iterator[str]:
    return takewhile(lambda piece: piece not in _MARKS, pieces)


def _words(pieces: list[str]) -> Iterator[str]:
    """Yield the stems of `pieces`, up to the end of the phrase."""
    for piece in pieces:
        if piece in _MARKS or piece == _ARROW or _VERB.match(piece):
            return
        if piece not in _IGNORED:
            yield stem(piece)
