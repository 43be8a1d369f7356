"""Checks of JSON values against declared shapes. Each issue has the path of the member and what is allowed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from attrs import frozen

from ..texts.sanitize import clean

MAX_ISSUES = 20
"""Issues after which a document is not checked further."""

MAX_ITEMS = 200
"""Items of a list and members of a map. Real documents have at most 108."""

MAX_TEXT = 10_000
"""Characters of a text that the schema does not limit."""


@frozen
class Issue:
    """An error in a document: the path of the member, such as packages[0].transport.url, and what is allowed."""

    path: str
    message: str


Check = Callable[[Any, str], Sequence[Issue]]
"""Returns the issues of a value at a path."""


@frozen
class Text:
    """Check a text. `allowed` are all its values if not empty; else it matches `pattern`, which `rule` describes.

    A raw text may have control and invisible characters, which its views leave out.
    """

    most: int = MAX_TEXT
    least: int = 0
    pattern: re.Pattern[str] | None = None
    rule: str = ""
    allowed: Collection[str] = ()
    is_raw: bool = False

    def __call__(self, value: Any, path: str) -> Sequence[Issue]:
        if not isinstance(value, str):
            return [Issue(path, f"must be a string, not {_kind(value)}.")]
        if self.allowed and value not in self.allowed:
            return [Issue(path, f"must be {_one_of(self.allowed)}.")]
        if not self.least <= len(value) <= self.most:
            return [Issue(path, f"must have {self.least} to {self.most:,} characters, not {len(value):,}.")]
        if self.pattern is not None and not self.pattern.fullmatch(value):
            return [Issue(path, f"must be {self.rule}.")]
        if not self.is_raw and clean(value) != value:
            return [Issue(path, "must not contain control or invisible characters.")]
        return ()


def flag(value: Any, path: str) -> Sequence[Issue]:
    """Check a boolean."""
    return () if isinstance(value, bool) else [Issue(path, f"must be true or false, not {_kind(value)}.")]


def any_object(value: Any, path: str) -> Sequence[Issue]:
    """Check an object with any members."""
    return () if isinstance(value, dict) else [Issue(path, f"must be an object, not {_kind(value)}.")]


@frozen
class List:
    """Check a list whose items all pass `item`."""

    item: Check

    def __call__(self, value: Any, path: str) -> Sequence[Issue]:
        if not isinstance(value, list):
            return [Issue(path, f"must be an array, not {_kind(value)}.")]
        if len(value) > MAX_ITEMS:
            return [Issue(path, f"must have at most {MAX_ITEMS} items, not {len(value):,}.")]
        return collected(self.item(item, f"{path}[{number}]") for number, item in enumerate(value))


@frozen
class Map:
    """Check an object with any names, whose members all pass `member`."""

    member: Check

    def __call__(self, value: Any, path: str) -> Sequence[Issue]:
        if found := any_object(value, path):
            return found
        if len(value) > MAX_ITEMS:
            return [Issue(path, f"must have at most {MAX_ITEMS} members, not {len(value):,}.")]
        names = Text(100, 1, rule="")
        return collected(
            names(name, f"{path}.{name[:50]!r}") or self.member(member, f"{path}.{name}")
            for name, member in value.items()
        )


@frozen
class Object:
    """Check an object: `members` by name, and the names that are `required`. An open one may have others."""

    members: Mapping[str, Check]
    required: Sequence[str] = ()
    is_open: bool = False

    def __call__(self, value: Any, path: str) -> Sequence[Issue]:
        if found := any_object(value, path):
            return found
        missing = [Issue(inside(path, name), "is required.") for name in self.required if name not in value]
        members = (self._member(name, each, path) for name, each in value.items())
        return collected(chain([missing], members))

    def _member(self, name: str, value: Any, path: str) -> Sequence[Issue]:
        check = self.members.get(name)
        if check is None and self.is_open:
            return ()
        if check is None:
            known = ", ".join(self.members)
            return [Issue(path or "server", f"unknown member {name[:50]!r}; allowed: {known}.")]
        return check(value, inside(path, name))


@frozen
class OneOf:
    """Check an object of one of several kinds, by its member `type`."""

    kinds: Mapping[str, Check]

    def __call__(self, value: Any, path: str) -> Sequence[Issue]:
        if found := any_object(value, path):
            return found
        kind = value.get("type")
        if not isinstance(kind, str) or kind not in self.kinds:
            return [Issue(inside(path, "type"), f"must be {_one_of(self.kinds)}.")]
        return self.kinds[kind](value, path)


def collected(found: Iterable[Sequence[Issue]]) -> Sequence[Issue]:
    """Return the issues of several checks, until there are MAX_ISSUES."""
    issues: list[Issue] = []
    for of_check in found:
        issues += of_check
        if len(issues) >= MAX_ISSUES:
            break
    return issues


def inside(path: str, name: str) -> str:
    """Return the path of the member `name` of an object at `path`, "" for the document."""
    return f"{path}.{name}" if path else name


def as_texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def as_objects(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


_KINDS = {str: "a string", dict: "an object", list: "an array"}


def _kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "a boolean"
    return next((name for kind, name in _KINDS.items() if isinstance(value, kind)), "a number")


def _one_of(values: Collection[str]) -> str:
    return " or ".join(repr(value) for value in values) if len(values) < 3 else f"one of {', '.join(map(repr, values))}"
