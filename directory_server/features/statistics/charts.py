"""Charts of numbers by day."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from attrs import frozen

from .rules import DAY, Count

HEIGHT = 48
"""Height of the greatest bar, in units of the drawing."""


@frozen
class Bar:
    """A day of a chart: its number, and how many of these failed; heights are in units of the drawing."""

    day: int
    date: str
    total: int
    failed: int
    height: float
    failed_height: float


@frozen
class Chart:
    """A bar for each day, the oldest first, and the totals of all days. `top` is the greatest bar, None without one."""

    bars: Sequence[Bar]
    total: int
    failed: int
    top: Bar | None


def chart(counts: Iterable[Count], first: int, last: int) -> Chart:
    """Return the chart of the days from `first` to `last`, in days since the epoch."""
    totals = dict.fromkeys(range(first, last + 1), 0)
    failed = dict.fromkeys(totals, 0)
    for count in counts:
        if count.day in totals:
            totals[count.day] += count.total
            failed[count.day] += count.failed
    greatest = max(totals.values(), default=0)
    bars = [
        Bar(day, date_of(day), total, failed[day], _height(total, greatest), _height(failed[day], greatest))
        for day, total in totals.items()
    ]
    top = max(bars, key=lambda bar: bar.total) if greatest else None
    return Chart(bars, sum(totals.values()), sum(failed.values()), top)


def date_of(day: int) -> str:
    """Return the date of a day (UTC) in days since the epoch."""
    return datetime.fromtimestamp(day * DAY, UTC).strftime("%Y-%m-%d")


def _height(number: int, greatest: int) -> float:
    """Return the height of a bar. Small numbers stay visible."""
    return max(1.0, round(HEIGHT * number / greatest, 1)) if number else 0.0
