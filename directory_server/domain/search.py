"""Search requests and result pages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from attrs import frozen

from .views import Hit

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

    @cached_property
    def size(self) -> int:
        """The bytes of the hits, about."""
        return sum([hit.size for hit in self.hits])

    def count_within(self, size: int) -> int:
        """Return the number of leading hits that fit into `size` bytes, at least 1."""
        return max(1, sum(total <= size for total in accumulate(hit.size for hit in self.hits)))
