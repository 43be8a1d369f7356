"""Search requests and result pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeVar

from attrs import field, frozen

from .entries import Hit

T = TypeVar("T")


DEFAULT_LIMIT = 50
"""Hits in an answer to one who names no limit."""


PAGE_BYTES = 524_288
"""Bytes from which on a page of a list ends before its limit, at least one item in."""


@frozen
class Position:
    """A place in a ranked list: the last entry seen, by its score and its server name."""

    score: float
    name: str


@frozen
class Query:
    """A search: the words, at most `limit` hits, those ranked behind `after`."""

    keywords: str
    limit: int = DEFAULT_LIMIT
    after: Position | None = None


@frozen
class Page:
    """Hits, best first, and the place to go on from, or None where the list ends."""

    hits: Sequence[Hit]
    next: Position | None = None
    _forms: dict[Callable[[Page], Any], Any] = field(factory=dict, init=False, eq=False, repr=False)

    @cached_property
    def size(self) -> int:
        """The bytes of the hits, about."""
        return sum(hit.size for hit in self.hits)

    def count_within(self, size: int) -> int:
        """Return how many hits from the first on have at most `size` bytes, at least one."""
        return max(1, sum(total <= size for total in accumulate(hit.size for hit in self.hits)))

    def form(self, make: Callable[[Page], T]) -> T:
        """Return what `make` makes of this page, once for all whom the page answers."""
        found = self._forms.get(make)
        made: T = self._forms.setdefault(make, make(self)) if found is None else found
        return made
