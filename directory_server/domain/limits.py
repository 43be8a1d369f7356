"""Limits of what lists and details show of an entry, for a publisher may write texts of any length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from attrs import field, fields, frozen, has

from ..sanitize import Cleaner, clean, clean_line, clean_text

T = TypeVar("T")

NAME = 200
"""Characters of a name or title."""

BRIEF = 500
"""Characters of a description in a list."""

URL = 2_000
"""Characters of a URL; a longer one is left out, for a part of it leads elsewhere."""

WORD = 100
"""Characters of a tag, category, version, date and other short texts."""

LONG = 20_000
"""Characters of a long description, and of those of tools and in other languages, which are BRIEF in a large entry."""

SERVER = 100_000
"""Characters of the server.json document; the largest real one has 61,831."""

TAGS, LANGUAGES, TOOLS, OBJECTS = 200, 30, 200, 100
"""Items of a list; the largest real ones have 108 tags and 120 tools."""

PART = 20_000
"""Characters of one list of objects of a document that is itself too large to be shown."""


def url(text: str) -> str:
    """Return `text` if it can be shown whole as a URL, else an empty text."""
    return text if len(text) <= URL and clean_line(text, URL) == text else ""


@frozen
class Shown:
    """Reads the parts of an entry for its detail, and notes in `omitted` the fields of which something is missing.

    `whole` is whether they are of a document that is clean and within limits as a whole.
    """

    whole: bool
    omitted: dict[str, None] = field(factory=dict, init=False)

    def line(self, name: str, text: str, limit: int = WORD) -> str:
        """Return `text` on one line."""
        return self._noted(name, clean_line(text, limit), text, limit)

    def text(self, name: str, text: str, limit: int) -> str:
        """Return `text`, which may have several lines."""
        return self._noted(name, clean_text(text, limit), text, limit)

    def said(self, name: str, text: str) -> str:
        """Return one of many descriptions."""
        return self.text(name, text, LONG if self.whole else BRIEF)

    def lines(self, name: str, texts: Sequence[str]) -> tuple[str, ...]:
        """Return the first of some short texts."""
        return tuple(self.line(name, text) for text in self.first(name, texts, TAGS))

    def texts(self, name: str, texts: Mapping[str, str]) -> dict[str, str]:
        """Return the first of some descriptions, by language."""
        first = self.first(name, list(texts.items()), LANGUAGES)
        return {self.line(name, tag): self.said(name, text) for tag, text in first}

    def objects(self, name: str, objects: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
        """Return as many whole objects as there is room for."""
        if self.whole:
            return tuple(objects)
        found: list[Mapping[str, Any]] = []
        cleaner = Cleaner(PART)
        for each in self.first(name, objects, OBJECTS):
            try:
                found.append(cleaner.copy(each))
            except OverflowError:
                self.omitted[name] = None
                break
        return tuple(found)

    def safe(self, name: str, items: Sequence[T]) -> tuple[T, ...]:
        """Return those items of which all texts can be shown as they are."""
        found = tuple(item for item in items if _is_safe(item))
        if len(found) < len(items):
            self.omitted[name] = None
        return found

    def first(self, name: str, items: Sequence[T], most: int) -> Sequence[T]:
        """Return the first `most` items."""
        if len(items) <= most:
            return items
        self.omitted[name] = None
        return items[:most]

    def _noted(self, name: str, shown: str, text: str, limit: int) -> str:
        if len(text) > limit and shown.endswith("…"):
            self.omitted[name] = None
        return shown


def _is_safe(value: Any) -> bool:
    """Return whether all texts in a value of the model, or of JSON, can be shown as they are."""
    if isinstance(value, str):
        return clean(value) == value
    if isinstance(value, Mapping):
        return all(_is_safe(name) and _is_safe(member) for name, member in value.items())
    if isinstance(value, Iterable):
        return all(_is_safe(item) for item in value)
    return not has(type(value)) or all(_is_safe(getattr(value, each.name)) for each in fields(type(value)))
