"""Programming languages of entries: their names, and the signs that an entry is written in one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .vocabulary import by_first_word, listed, read_vocabulary

WORD = re.compile(r"[^\W_]+(?:\+\+|#)?")
"""A word of a text in lower case. Words of scripts without spaces are not separated."""

_VOCABULARY = read_vocabulary("languages")

NAMES: Mapping[str, Sequence[str]] = {name: listed(texts) for name, texts in _VOCABULARY["names"].items()}
"""For each programming language its names in texts, beside its own."""

TOPICAL = frozenset(listed(_VOCABULARY["topical"]))
"""Names of languages that have other meanings."""

LANGUAGES = tuple(NAMES)
"""The languages that are recognised."""

_OF_PACKAGES = {kind: listed(languages) for kind, languages in _VOCABULARY["packages"].items()}

_OF_NAME_ENDS: Mapping[str, str] = _VOCABULARY["name_ends"]
"""Languages by the last part of a name, such as that of `weather-rs`."""

_AFTER_LANGUAGE = {"based", "implementation", "server", "mcp", "powered", "binary", "codebase", "sdk"}

_BEFORE_LANGUAGE = {"in", "with", "using", "a"}


def language_of(name: str) -> str:
    """Return the language with this name in any letter case, an empty text for others."""
    name = name.casefold()
    return str(_VOCABULARY["other_names"].get(name, name if name in LANGUAGES else ""))


_BY_FIRST_WORD = by_first_word(
    ((name, language) for language, names in NAMES.items() for name in (*names, language)), WORD
)


def languages_said(words: Sequence[str]) -> Iterator[str]:
    """Yield the languages that an entry is said to be written in: "in Rust", "a Go server", "TypeScript-based"."""
    for place, word in enumerate(words):
        for expression, language in _BY_FIRST_WORD.get(word, ()):
            end = place + len(expression)
            if tuple(words[place:end]) != expression:
                continue
            before = words[place - 1] if place else ""
            after = words[end] if end < len(words) else ""
            if after in _AFTER_LANGUAGE or before in _BEFORE_LANGUAGE or place == 0:
                yield language


def languages_of_packages(kinds: Iterable[str]) -> Sequence[str]:
    """Return the languages of packages of these types."""
    return [language for kind in kinds for language in _OF_PACKAGES.get(kind, ())]


def languages_of_name(name: str) -> Sequence[str]:
    """Return the language that the last part of a server's name states."""
    parts = WORD.findall(name.rpartition("/")[2].casefold())
    return [_OF_NAME_ENDS[parts[-1]]] if len(parts) > 1 and parts[-1] in _OF_NAME_ENDS else []
