"""Selection of entries by patterns of their names."""

from __future__ import annotations

from fnmatch import fnmatchcase

from attrs import frozen


@frozen
class NamePatterns:
    """Patterns of names; `*` matches any text.

    A name is selected if it matches a pattern of `include` (or that is empty) and no pattern of `exclude`.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All patterns as text."""
        return " ".join((*(f"+{each}" for each in self.include), *(f"-{each}" for each in self.exclude)))

    def selects(self, name: str) -> bool:
        """Return whether `name` is selected."""
        included = not self.include or any(fnmatchcase(name, pattern) for pattern in self.include)
        return included and not any(fnmatchcase(name, pattern) for pattern in self.exclude)
