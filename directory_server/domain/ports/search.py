"""Ports of search and of the change log's subscribers."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from typing import Protocol

from ..changes import Change
from ..entries import Entry
from ..search import Page, Query


class Subscriber(Protocol):
    """One that follows the change log."""

    async def apply(self, changes: Sequence[Change]) -> None:
        """Take `changes`, which come in order. Applying one again must do no harm."""


class Analysis(Protocol):
    """Makes of an entry what an Index takes of it: work that is done once for each version of an entry."""

    @property
    def version(self) -> str:
        """What is another whenever the same entry may give other bytes."""

    def __call__(self, entry: Entry) -> bytes:
        """Return what an Index takes of `entry`. Any thread may call it."""


class Follower(Subscriber, Protocol):
    """One that follows the change log from the start of the process on, without what was there before."""

    def begin(self, seq: int) -> None:
        """Take note that the next change to come is the first behind `seq`."""


class Matching(Protocol):
    """Tells whose words an entry has."""

    def __call__(self, change: Change, queries: Collection[str]) -> Set[str]:
        """Return those of `queries` all of whose words the entry of `change` has, read as a search reads both."""


class Index(Subscriber, Protocol):
    """The entries, ready to be searched, in memory; fed by `apply` with what an Analysis made of them."""

    @property
    def generation(self) -> int:
        """The number of times the answers may have changed since the process started."""

    def __len__(self) -> int:
        """Return the number of entries that can be found."""

    async def search(self, query: Query) -> Page:
        """Return the hits for `query`, best first; equal scores in the order of their names."""
