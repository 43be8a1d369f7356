"""Port of what features add to the views of entries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Protocol

from ..entries import Entry
from ..views import Detail
from .points import Point

AcceptedMarks = Callable[[str], Collection[str]]
"""Returns the ids of the marks of the texts of an entry that an operator has accepted. It reads no database."""


def none_accepted(mcp_id: str) -> Collection[str]:
    """Return no marks."""
    return ()


class EntryAdditions(Protocol):
    """Adds what a feature knows of an entry to its views. Features override what they add to."""

    def add_summary(self, detail: Detail) -> Detail:
        """Return `detail` with what is in memory. This reads no database."""
        return detail

    async def add_all(self, detail: Detail, accepted: Collection[str]) -> Detail:
        """Return `detail` with all that is known, without texts with marks. Raises Unavailable.

        `accepted` are the ids of the marks that an operator has accepted.
        """
        return self.add_summary(detail)

    def registry_meta(self, mcp_id: str, sees: Callable[[str], bool]) -> Mapping[str, object]:
        """Return members of `_meta` in the registry API, for the latest version of the entry `mcp_id`.

        They name no other entry with an id for which `sees` returns False.
        """
        return {}


PublishedCheck = Callable[[Entry], Awaitable[None]]
"""Raises BadInput if an entry may not be published by this directory, whoever publishes it."""


ADDITIONS = Point[EntryAdditions]()
"""What features add to the views of entries."""

PUBLISHED_CHECKS = Point[PublishedCheck]()
"""Check new versions that are published to this directory."""
