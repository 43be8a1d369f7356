"""Ports of search and of the change log's subscribers."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from typing import Protocol

from ..changes import Change
from ..entries import Entry
from ..search import Page, Query


class Subscriber(Protocol):
    """A consumer of the change log."""

    async def apply(self, changes: Sequence[Change]) -> None:
        """Apply `changes`, which are in order. Applying a change twice must be harmless."""


class Analysis(Protocol):
    """Computes the index input of an entry, once for each version of an entry."""

    @property
    def version(self) -> str:
        """The version of the analysis; it differs whenever the result for the same entry may differ."""

    def __call__(self, entry: Entry) -> bytes:
        """Return the index input of `entry`. May be called in any thread."""


class Follower(Subscriber, Protocol):
    """A consumer of the changes after the start of the process."""

    def begin(self, seq: int) -> None:
        """Prepare for the changes after `seq`."""


class Matching(Protocol):
    """Matches saved queries against changed entries."""

    def __call__(self, change: Change, queries: Collection[str]) -> Set[str]:
        """Return those of `queries` whose words all occur in the entry of `change`, analysed as in a search."""


class Index(Subscriber, Protocol):
    """The in-memory search index. `apply` feeds it with results of an Analysis."""

    @property
    def generation(self) -> int:
        """A counter that increases whenever search results may have changed."""

    def __len__(self) -> int:
        """Return the number of searchable entries."""

    async def search(self, query: Query) -> Page:
        """Return the hits for `query`, best first; equal scores are ordered by name."""
