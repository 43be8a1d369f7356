"""What lists of entries are sorted by: stars and dates."""

from __future__ import annotations

from datetime import UTC, datetime

from attrs import evolve, frozen

from ...domain.entries import Entry
from ...domain.facts import with_facts
from ...domain.versions import epoch
from ...domain.views import Hit

UNKNOWN_STARS = -1

HOUR = 3_600
"""Seconds of an hour. Dates are in hours, which float32 represents exactly."""

MAX_HOURS = 1 << 23
"""Dates from this hour on, in the year 2926, are unknown."""


@frozen
class Sorting:
    """The stars of an entry, and the hour since the epoch in which it was updated, 0 if that is unknown."""

    stars: int = UNKNOWN_STARS
    updated: int = 0


def sorting_of(entry: Entry) -> Sorting:
    """Return what `entry` is sorted by."""
    official = entry.official
    moment = epoch(official.get("updatedAt"))
    moment = epoch(official.get("publishedAt")) if moment is None else moment
    hours = 0 if moment is None else int(moment) // HOUR
    return Sorting(UNKNOWN_STARS if entry.stars is None else entry.stars, hours if 0 < hours < MAX_HOURS else 0)


def listed(hit: Hit, facts: int, sorting: Sorting) -> Hit:
    """Return `hit` with the facts in the bits `facts`, its stars and the day of its last update."""
    updated = datetime.fromtimestamp(sorting.updated * HOUR, UTC).date().isoformat() if sorting.updated else ""
    stars = None if sorting.stars == UNKNOWN_STARS else sorting.stars
    return evolve(with_facts(hit, facts), stars=stars, updated=updated)
