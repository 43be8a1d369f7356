"""Patterns of names: those that select entries, and those of publishers."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from attrs import frozen

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"

_NAMESPACE = rf"{_LABEL}(?:\.{_LABEL})*"

_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"

NAME = re.compile(rf"{_NAMESPACE}/{_PART}")
"""A name that can be published: labels of a reversed domain, a slash, and a part without further slashes."""

_PATTERN = re.compile(rf"{_NAMESPACE}/(?:\*|{_PART})|{_LABEL}(?:\.{_LABEL})+\.\*/\*")

_MAX_PATTERN = 200
"""Characters of a pattern, as of a name."""


def is_pattern(text: str) -> bool:
    """Return whether `text` is a pattern of names that a publisher may have, such as io.acme/*."""
    return len(text) <= _MAX_PATTERN and _PATTERN.fullmatch(text) is not None


@frozen
class NamePatterns:
    """Patterns of names; `*` matches any text.

    A name is selected if it matches a pattern of `include` (or that is empty) and no pattern of `exclude`.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return " ".join((*(f"+{pattern}" for pattern in self.include), *(f"-{pattern}" for pattern in self.exclude)))

    def selects(self, name: str) -> bool:
        included = not self.include or any(fnmatchcase(name, pattern) for pattern in self.include)
        return included and not any(fnmatchcase(name, pattern) for pattern in self.exclude)
