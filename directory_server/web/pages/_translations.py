"""Translations of the page texts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any

from attrs import frozen
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from ...client_config import NOTICES
from ._additions import Extension
from ._assets import OWN, Brand

DEFAULT = "en"
"""The language of requests that accept none of the available languages."""

LANGUAGES = {"en": "English", "zh": "中文"}
"""Native names of the available languages by tag (BCP 47)."""


_NUMBER = r"[0-9][0-9.,]{0,20}%?"
"""A number in a message."""


@frozen(eq=False)
class Translations:
    """The texts of one language: `translations("search.new_servers", count=3)`."""

    language: str
    _texts: Mapping[str, str]
    _categories: Mapping[str, str]
    _upstream_errors: Sequence[tuple[re.Pattern[str], str]]

    def __call__(self, key: str, **values: object) -> str:
        """Return the text `key` with `values` in its placeholders. A `count` of 1 selects `key_one`, if it exists.

        Raises KeyError.
        """
        one = self._texts.get(f"{key}_one") if values.get("count") == 1 else None
        return (self._texts[key] if one is None else one).format_map(values)

    def __contains__(self, key: str) -> bool:
        return key in self._texts

    def category(self, label: str) -> str:
        """Return the name of a publisher's category in this language, the label itself if there is none."""
        return self._categories.get(_category_key(label), label) if self._categories else label

    def upstream_error(self, message: str) -> str:
        """Return the stored error of a sync run in this language; an unknown one, or one that was cut, as it is."""
        for pattern, text in self._upstream_errors:
            if found := pattern.fullmatch(message):
                return text.format_map(found.groupdict())
        return message

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(self._texts)

    def template(self, key: str) -> str:
        """Return the text `key` with its placeholders."""
        return self._texts[key]


@cache
def load(extensions: tuple[Extension, ...] = (), brand: Brand = OWN) -> Mapping[str, Translations]:
    """Return the translations of each language, with those of `extensions` and the texts of `brand`.

    The files are read once in a process.
    """
    categories, errors = _table("categories"), _table("upstream_errors")
    own = {language: _table(language) for language in LANGUAGES}
    own[DEFAULT] |= NOTICES
    additions = [(f"{part.name}.", _read(part.package, "texts.toml")) for part in extensions]
    return {
        language: Translations(
            language,
            dict(
                chain(
                    _flat(own[language]),
                    *(_flat(texts[language], section) for section, texts in additions),
                    brand.texts.items(),
                )
            ),
            categories.get(language, {}),
            [(_pattern(message), text) for message, text in errors.get(language, {}).items()],
        )
        for language in LANGUAGES
    }


def _pattern(message: str) -> re.Pattern[str]:
    """Return the pattern of a message whose placeholders stand for numbers ("n1") or for any text (other names)."""
    # Every second part is the name of a placeholder.
    parts = re.split(r"\{(\w+)\}", message)
    parts[::2] = map(re.escape, parts[::2])
    parts[1::2] = [f"(?P<{name}>{_NUMBER if re.fullmatch(r'n[0-9]', name) else '.+'})" for name in parts[1::2]]
    return re.compile("".join(parts), re.DOTALL)


def choose(accepted: str) -> str:
    """Return the best language for the value of an Accept-Language header (RFC 9110, section 12.5.4)."""
    # Best first. werkzeug's own best match would select zh for "en-GB, zh;q=0.5".
    accepted_tags = (
        tag.partition("-")[0].lower() for tag, quality in parse_accept_header(accepted, LanguageAccept) if quality
    )
    return next((tag for tag in accepted_tags if tag in LANGUAGES), DEFAULT)


def _category_key(label: str) -> str:
    """Return the key of a category, the same for its usual spellings."""
    return " ".join(word for word in re.findall("[a-z0-9]+", label[:100].lower()) if word != "and")


def _table(name: str) -> dict[str, Any]:
    return _read(__package__, "texts", f"{name}.toml")


def _read(package: str, *path: str) -> dict[str, Any]:
    return tomllib.loads(files(package).joinpath(*path).read_text("utf-8"))


def _flat(table: Mapping[str, Any], section: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{section}{key}.")
        else:
            yield section + key, value
