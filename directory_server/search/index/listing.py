"""What lists of entries are sorted by: stars and dates."""

from __future__ import annotations

from attrs import frozen

from ...domain.entries import Entry
from ...domain.versions import epoch

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
