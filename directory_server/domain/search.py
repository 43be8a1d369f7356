"""Search requests and result pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from attrs import field, frozen

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
class Hits:
    """Hits as `records`, their encoded form. A hit is decoded when it is read: most pages are sent as they are stored.

    The module serialization has the form of records. `reasons` has for each hit the concepts and conditions of the
    query that it matches, as text; it is empty if no hit has any.
    """

    records: Sequence[bytes]
    _decode: Callable[[bytes], Hit] = field(eq=False, repr=False)
    reasons: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Hit]:
        return map(self._decode, self.records)

    def __getitem__(self, place: int) -> Hit:
        return self._decode(self.records[place])


@frozen
class Page:
    """Hits, best first, and the position of the next page; None after the last page."""

    hits: Hits
    next: Position | None = None

    @cached_property
    def size(self) -> int:
        """The bytes of the hits, about."""
        return sum(map(len, self.hits.records))

    def count_within(self, size: int) -> int:
        """Return the number of leading hits that fit into `size` bytes, at least 1."""
        return max(1, sum(total <= size for total in accumulate(map(len, self.hits.records))))
