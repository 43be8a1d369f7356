"""Categories of servers: a short list of our own, to which the categories and tags of publishers are mapped by rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from .vocabulary import listed, read_vocabulary

MAX_CATEGORIES = 3
"""Categories of an entry."""

MAX_LABELS = 20
"""Categories, and tags, of a publisher that are read."""

MAX_LABEL = 100
"""Characters of a label that are read."""

_RULES: Mapping[str, Sequence[str]] = {name: listed(words) for name, words in read_vocabulary("categories").items()}
"""The categories in their order, and the words that publishers use for each."""

CATEGORIES: Sequence[str] = tuple(_RULES)
"""The names of the categories, which are values of the filter `category`."""

_FILLERS = frozenset({"and", "the", "of", "for"})
"""Words of labels that separate nothing."""


def categories_of(categories: Iterable[str], tags: Iterable[str]) -> Sequence[str]:
    """Return the names of the categories of an entry, at most MAX_CATEGORIES, from those that its publisher gives.

    Tags count only if no category is known: a publisher has many. "ai" comes last among them, because most have it.
    """
    found = dict.fromkeys(name for label in _first(categories) if (name := category_of(label)))
    if not found:
        tagged = dict.fromkeys(_PHRASES.get(" ".join(_words(tag)), "") for tag in _first(tags))
        found = dict.fromkeys(sorted(filter(None, tagged), key=lambda name: name == "ai"))
    return tuple(found)[:MAX_CATEGORIES]


# The labels of publishers are few. The cache takes at most about 1 MB.
@lru_cache(maxsize=4_096)
def category_of(label: str) -> str:
    """Return the name of the category of a publisher's label: that of its longest known words, empty if none is."""
    words = _words(label)
    for size in range(min(_LONGEST, len(words)), 0, -1):
        for start in range(len(words) - size + 1):
            known = _PHRASES.get(" ".join(words[start : start + size]))
            if known is not None:
                return known
    return next((name for phrase, name in _UNSEGMENTED.items() if phrase in label[:MAX_LABEL]), "")


def _first(labels: Iterable[str]) -> Iterator[str]:
    return (label for _, label in zip(range(MAX_LABELS), labels, strict=False))


def _words(label: str) -> Sequence[str]:
    """Return the words of a label in lower case, without plural endings and fillers."""
    words = (_singular(word) for word in re.findall(r"[^\W_]+", label[:MAX_LABEL].casefold()))
    return [word for word in words if word not in _FILLERS]


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    is_plural = word.endswith("s") and not word.endswith(("ss", "us", "is", "ops", "ics")) and len(word) > 3
    return word[:-1] if is_plural else word


_PHRASES = {" ".join(_words(phrase)): name for name, phrases in _RULES.items() for phrase in phrases}

_LONGEST = max(len(phrase.split()) for phrase in _PHRASES)

_UNSEGMENTED = {phrase: name for phrase, name in _PHRASES.items() if not phrase.isascii()}
