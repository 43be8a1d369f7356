"""What a query does not want: "like X but …", "instead of X", "stock prices but no crypto", "calendar, not Google".

An entry for such a thing is still found, but comes later: many say that they can do both.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from ..index.view import View
from ..tables.stop_words import FUNCTION_WORDS
from ..text import is_unspaced, stem

_INSTEAD = (
    ("alternative", "to"), ("alternatives", "to"), ("similar", "to"), ("comparable", "to"), ("equivalent", "to"),
    ("equivalent", "of"), ("replacement", "for"), ("substitute", "for"), ("competitor", "to"), ("competitor", "of"),
    ("alternative", "zu"), ("ahnlich", "wie"), ("alternative", "a"), ("alternativa", "a"), ("alternativa", "al"),
    ("alternativa", "ao"), ("parecido", "a"), ("alternatief", "voor"), ("alternatywa", "dla"), ("аналог",),
    ("альтернатива",),
)  # fmt: skip
"""Words before a product that the query wants something like: English; German, French, Spanish, Italian, Portuguese,
Dutch, Polish, Russian."""

_AFTER = frozenset({"alternative", "alternatives", "replacement", "substitute", "alternativa"})
"""Words after such a product."""

_WITHOUT = (
    ("but", "no"), ("but", "not"), ("and", "not"), ("except",), ("except", "for"), ("excluding",), ("other", "than"),
    ("instead", "of"), ("rather", "than"), ("apart", "from"), ("without",), ("not",),
    ("aber", "kein"), ("aber", "keine"), ("aber", "nicht"), ("ausser",), ("statt",), ("sauf",), ("mais", "pas"),
    ("au", "lieu", "de"), ("excepto",), ("pero", "no"), ("en", "lugar", "de"), ("en", "vez", "de"), ("exceto",),
    ("mas", "nao"), ("em", "vez", "de"), ("maar", "geen"), ("maar", "niet"), ("behalve",), ("але", "не"), ("крім",),
    ("но", "не"), ("кроме",), ("вместо",), ("ma", "non"), ("tranne",), ("invece", "di"), ("ale", "nie"), ("zamiast",),
)  # fmt: skip
"""Words before what a query excludes, in the same languages and Ukrainian."""

_BOTH = frozenset({"only", "just"})
"""Words after a negation that excludes nothing: "not only Gmail"."""

_NAMES_ONLY = ("not",)
"""A word that excludes names only: "not working" and "not found" are topics."""

_LIKE, _BUT, _OR = "like", "but", "or"
_ARTICLES = frozenset({"a", "an", "any", "the", "using", "use"})

MIN_NAMED = 0.25
"""The share of the entries with a word that have it in their names, from which it may be a name."""

_BY_FIRST: dict[str, list[tuple[str, ...]]] = {}
for _words in sorted((*_INSTEAD, *_WITHOUT), key=len, reverse=True):
    _BY_FIRST.setdefault(_words[0], []).append(_words)

_STARTS = {*_BY_FIRST, *_AFTER, _LIKE}


@frozen
class Wishes:
    """The `words` of a query without those that it excludes.

    `models` are the products that it wants something like, which say what it is about. `avoided` are the terms of what
    it wants no entries for.
    """

    words: Sequence[str]
    models: frozenset[str] = frozenset()
    avoided: Sequence[str] = ()


def find_wishes(words: Sequence[str], view: View) -> Wishes:
    """Return what the words of a query exclude. A query without other words excludes nothing."""
    if _STARTS.isdisjoint(words):
        return Wishes(words)
    kept: list[str] = []
    models: list[str] = []
    avoided: list[str] = []
    place = 0
    while place < len(words):
        starts = _BY_FIRST.get(words[place], ())
        before = next((start for start in starts if tuple(words[place : place + len(start)]) == start), None)
        name, end = _name_after(words, place + len(before), view, before) if before else ("", place)
        if name and before in _INSTEAD:
            models.append(name)
            kept.append(name)
        elif name:
            avoided.append(name)
            if end + 1 < len(words) and words[end] == _OR and words[end + 1] not in FUNCTION_WORDS:
                avoided.append(words[end + 1])
                end += 2
        elif (product := _model(words, place, view)) is not None:
            models.append(product)
            end = place + 1 + (words[place] == _LIKE)
            kept += [product] if words[place] == _LIKE else []
        else:
            kept.append(words[place])
            end = place + 1
        place = end
    if (not models and not avoided) or not any(word not in FUNCTION_WORDS for word in kept):
        return Wishes(words)
    return Wishes(kept, frozenset(models), [*map(stem, (*models, *avoided))])


def _name_after(words: Sequence[str], place: int, view: View, before: tuple[str, ...]) -> tuple[str, int]:
    """Return the thing that follows the words `before`, and its end; an empty string if there is none."""
    while place < len(words) and words[place] in _ARTICLES:
        place += 1
    if place == len(words) or words[place] in _BOTH or words[place] in FUNCTION_WORDS or is_unspaced(words[place]):
        return "", place
    word = words[place]
    is_name = view.name_share(stem(word)) >= MIN_NAMED
    return (word, place + 1) if is_name or before not in (_NAMES_ONLY, ("without",)) else ("", place)


def _model(words: Sequence[str], place: int, view: View) -> str | None:
    """Return the product in "like X but" or "X alternative", None if there is none at a place."""
    word = words[place]
    if word == _LIKE and _BUT in words[place + 2 : place + 4] and view.name_share(stem(words[place + 1])) >= MIN_NAMED:
        return words[place + 1]
    if word in _AFTER and place and view.name_share(stem(words[place - 1])) >= MIN_NAMED:
        return words[place - 1]
    return None
