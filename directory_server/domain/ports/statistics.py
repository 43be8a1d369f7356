"""Port of the numbers of requests and searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..statistics import Count, QueryCount, QueryTotal


class Statistics(Protocol):
    """Numbers of requests and searches by day. No request waits for them, and no method blocks the reactor's thread.

    Days are in days since the epoch (UTC). Methods raise Unavailable.
    """

    async def add(self, counts: Sequence[Count], queries: Sequence[QueryCount] = ()) -> None:
        """Add to the stored numbers. At most MAX_TEXTS texts of a day are stored; further ones are ignored."""

    async def counts(self, first: int, last: int) -> Sequence[Count]:
        """Return the numbers of the days from `first` to `last`, ordered by day, kind and name."""

    async def queries(self, first: int, *, failed: bool = False, limit: int) -> Sequence[QueryTotal]:
        """Return the most frequent texts since the day `first`; if `failed`, by their searches without a hit."""

    async def forget(self, counts: int, queries: int) -> None:
        """Delete the numbers of days before `counts`, and the texts of days before `queries`."""
