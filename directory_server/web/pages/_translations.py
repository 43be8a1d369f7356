"""The words on the pages, in every language that there are words in."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from attrs import frozen
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

DEFAULT = "en"
"""The language of those who ask for none that there is."""

LANGUAGES = {"en": "English", "zh": "中文"}
"""The languages by their tags (BCP 47), each under its own name."""


@frozen
class Translations:
    """The words of one language: `texts("search.found", count=3)`."""

    language: str
    _words: Mapping[str, str]

    def __call__(self, key: str, **values: object) -> str:
        """Return the text `key` with `values` in their places; for a `count` of 1 its form `key_one`, if it has one.

        Raises KeyError.
        """
        one = self._words.get(f"{key}_one") if values.get("count") == 1 else None
        return (self._words[key] if one is None else one).format_map(values)

    def __contains__(self, key: str) -> bool:
        return key in self._words

    @property
    def names(self) -> frozenset[str]:
        """The names of all texts."""
        return frozenset(self._words)

    def word(self, key: str) -> str:
        """Return the text `key` as it is written, with places for values still in it."""
        return self._words[key]


def load() -> Mapping[str, Translations]:
    """Return the words of every language."""
    return {language: Translations(language, dict(_flat(_table(language)))) for language in LANGUAGES}


def choose(accepted: str) -> str:
    """Return the language that suits the value of an Accept-Language header best (RFC 9110, section 12.5.4)."""
    # Best first. What werkzeug itself takes for the best match is zh, of "en-GB, zh;q=0.5".
    asked = (tag.partition("-")[0].lower() for tag, quality in parse_accept_header(accepted, LanguageAccept) if quality)
    return next((tag for tag in asked if tag in LANGUAGES), DEFAULT)


def _table(language: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("texts", f"{language}.toml").read_text("utf-8"))


def _flat(table: Mapping[str, Any], section: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{section}{key}.")
        else:
            yield section + key, value
