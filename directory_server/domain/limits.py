"""Size limits for the views of an entry. Publishers may write texts of any length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from attrs import define, field, fields, has

from ..texts.sanitize import Cleaner, clean, clean_line, clean_text

T = TypeVar("T")

NAME = 200
"""Characters of a name or title."""

BRIEF = 500
"""Characters of a description in a list."""

SUMMARY = 200
"""Characters of a description in the hits for models."""

URL = 2_000
"""Characters of a URL. A longer one is left out, because a truncated URL points elsewhere."""

WORD = 100
"""Characters of a tag, category, version, date and other short texts."""

LONG = 20_000
"""Characters of a long description, and of descriptions of tools and in other languages.

The latter are cut to BRIEF in an entry that is larger than SERVER.
"""

SERVER = 100_000
"""Characters of the server.json document; the largest real one has 61,831."""

TAGS, LANGUAGES, TOOLS, OBJECTS = 200, 30, 200, 100
"""Items of a list; the largest real ones have 108 tags and 120 tools."""

MAX_STARS = 10_000_000
"""The most stars accepted; a larger stated number is ignored. No real repository has a million."""

PART = 20_000
"""Characters of one list of objects in a document larger than SERVER."""


def url(text: str) -> str:
    """Return `text` if it is a safe URL within the limit, else an empty string."""
    return text if len(text) <= URL and clean_line(text, URL) == text else ""


@define(eq=False)
class DetailFields:
    """Sanitizes and truncates the fields of an entry's detail; records in `omitted` the fields that lost something.

    `whole` is whether the document as a whole is clean and within limits.
    """

    whole: bool
    omitted: dict[str, None] = field(factory=dict, init=False)

    def line(self, name: str, text: str, limit: int = WORD) -> str:
        """Return `text` sanitized, on one line."""
        return self._record_cut(name, clean_line(text, limit), text, limit)

    def text(self, name: str, text: str, limit: int) -> str:
        """Return `text` sanitized, with its lines."""
        return self._record_cut(name, clean_text(text, limit), text, limit)

    def description(self, name: str, text: str) -> str:
        """Return `text` sanitized, cut to LONG characters, or to BRIEF in a large entry."""
        return self.text(name, text, LONG if self.whole else BRIEF)

    def lines(self, name: str, texts: Sequence[str]) -> tuple[str, ...]:
        """Return the first TAGS of `texts`, sanitized."""
        return tuple(self.line(name, text) for text in self.first(name, texts, TAGS))

    def texts(self, name: str, texts: Mapping[str, str]) -> dict[str, str]:
        """Return the first LANGUAGES of the descriptions `texts`, by language, sanitized."""
        first = self.first(name, list(texts.items()), LANGUAGES)
        return {self.line(name, tag): self.description(name, text) for tag, text in first}

    def objects(self, name: str, objects: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
        """Return as many whole objects as fit."""
        if self.whole:
            return tuple(objects)
        found: list[Mapping[str, Any]] = []
        cleaner = Cleaner(PART)
        for item in self.first(name, objects, OBJECTS):
            try:
                found.append(cleaner.copy(item))
            except OverflowError:
                self.omitted[name] = None
                break
        return tuple(found)

    def safe(self, name: str, items: Sequence[T]) -> tuple[T, ...]:
        """Return the items whose texts are all safe unchanged."""
        found = tuple(item for item in items if _is_safe(item))
        if len(found) < len(items):
            self.omitted[name] = None
        return found

    def first(self, name: str, items: Sequence[T], most: int) -> Sequence[T]:
        if len(items) <= most:
            return items
        self.omitted[name] = None
        return items[:most]

    def _record_cut(self, name: str, result: str, text: str, limit: int) -> str:
        if len(text) > limit and result.endswith("…"):
            self.omitted[name] = None
        return result


def _is_safe(value: Any) -> bool:
    """Return whether all texts in a domain or JSON value are safe unchanged."""
    if isinstance(value, str):
        return clean(value) == value
    if isinstance(value, Mapping):
        return all(_is_safe(name) and _is_safe(member) for name, member in value.items())
    if isinstance(value, Iterable):
        return all(_is_safe(item) for item in value)
    return not has(type(value)) or all(_is_safe(getattr(value, attribute.name)) for attribute in fields(type(value)))
