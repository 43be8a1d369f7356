"""What a person typed: words, and filters among them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import field, frozen

from ..index.document import facet, phrase
from ..text.analysis import Word, fold, stem, tokens, words

MAX_TOKENS = 32
"""Tokens of one query; what is typed behind them is not searched."""

MAX_TEXT = 512
"""Characters that a query may become where one character stands for many (U+FDFA for 18); the rest is cut."""

MAX_PHRASES = 3
"""Exact phrases of one query; the words of more are searched, but may stand anywhere."""

FILTERS = ("tag", "transport", "package", "official")
"""What may stand before a colon; anything else there is plain text."""

_PIECE = re.compile(
    rf"""(?<!\S)-(?P<excluded>\w\S*) | (?<!\S)(?P<filter>{"|".join(FILTERS)}):(?P<value>"[^"]+"|[^\s"]+)"""
    r""" | "(?P<phrase>[^"]+)" """,
    re.VERBOSE | re.IGNORECASE,
)


@frozen
class Typed:
    """A query in its parts.

    `words` are ranked by; an entry must have all of `required` (terms) and `phrases` (folded text), and none of
    `excluded` (terms). `ends` tells whether the last word is finished.
    """

    words: Sequence[Word]
    ends: bool
    required: Sequence[str] = ()
    phrases: Sequence[str] = ()
    excluded: Sequence[str] = ()
    text: str = field(default="", repr=False)

    @property
    def filters(self) -> bool:
        """Tell whether anything but rank decides what is found."""
        return bool(self.required or self.phrases or self.excluded)


def read(keywords: str) -> Typed:
    """Return the parts of what was typed. Nothing typed is an error: what is not a filter is words."""
    required: list[str] = []
    phrases: list[str] = []
    excluded: list[str] = []
    for piece in _PIECE.finditer(keywords):
        if piece["excluded"]:
            excluded += [stem(token) for token in tokens(piece["excluded"])[:1]]
        elif piece["filter"]:
            required.append(facet(piece["filter"].lower(), piece["value"].strip('"')))
        elif (exact := phrase(piece["phrase"])) and len(phrases) < MAX_PHRASES:
            phrases.append(exact)
    # A phrase is ranked by its words, too.
    text = fold(_PIECE.sub(lambda piece: f" {piece['phrase'] or ''} ", keywords))[:MAX_TEXT]
    typed = _first(words(text, humps=True))
    # What joins the parts of a name leaves it open.
    ends = bool(typed) and not (text[-1:].isalnum() or (text[-1:] in "-_./" and text[-2:-1].isalnum()))
    return Typed(typed, ends, required, phrases, excluded, text)


def _first(typed: Sequence[Word]) -> list[Word]:
    """Return the words that hold the first MAX_TOKENS tokens, the last one cut if it holds more."""
    found: list[Word] = []
    left = MAX_TOKENS
    for word in typed:
        if left <= 0:
            break
        cut = word.parts[:left] if word.spaced else (word.parts[0][: left + 1],)
        found.append(Word(cut, word.spaced))
        left -= len(found[-1].tokens)
    return found
