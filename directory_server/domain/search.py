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
"""Hits on a page if the request has no limit."""


PAGE_BYTES = 524_288
"""Bytes after which a page ends before its limit; a page has at least one item."""


@frozen
class Position:
    """A position in a ranked list: score and server name of the last entry before it."""

    score: float
    name: str


@frozen
class Query:
    """A search for `keywords`: at most `limit` hits, ranked after the position `after`."""

    keywords: str
    limit: int = DEFAULT_LIMIT
    after: Position | None = None


@frozen
class Page:
    """Hits, best first, and the position of the next page; None after the last page."""

    hits: Sequence[Hit]
    next: Position | None = None
    _forms: dict[Callable[[Page], Any], Any] = field(factory=dict, init=False, eq=False, repr=False)

    @cached_property
    def size(self) -> int:
        """The bytes of the hits, about."""
        return sum(hit.size for hit in self.hits)

    def count_within(self, size: int) -> int:
        """Return the number of leading hits that fit into `size` bytes, at least 1."""
        return max(1, sum(total <= size for total in accumulate(hit.size for hit in self.hits)))

    def form(self, make: Callable[[Page], T]) -> T:
        """Return `make(self)`, computed once per page and function."""
        found = self._forms.get(make)
        value: T = self._forms.setdefault(make, make(self)) if found is None else found
        return value
