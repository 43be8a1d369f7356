"""Charts of numbers by day: those of API keys are on the pages that show a key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from attrs import frozen

from ...domain.errors import Unavailable
from ...tables import Storage
from ...web.operator_requests import ADMIN
from ...web.pages import ASSETS_PATH, KeyPart
from .rules import DAY, Count, day_of
from .tables import Statistics

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


def is_of_readers(requests: Count) -> bool:
    """Return whether requests are of an API or a page for readers: no files of pages, no operator or account."""
    return not requests.name.startswith((ASSETS_PATH, ADMIN, "/account"))


DAYS = 30
"""Days of the chart."""


async def _read(storage: Storage, now: float, key_ids: Sequence[str]) -> Mapping[str, object]:
    """Return the charts of the keys that were used. The page of the keys works without them."""
    today = day_of(now)
    first = today + 1 - DAYS
    try:
        counts = await Statistics(storage.statistics_tables).of_names("keys", key_ids, first, today)
    except Unavailable:
        return {}
    used = dict.fromkeys(count.name for count in counts)
    return {key_id: chart([count for count in counts if count.name == key_id], first, today) for key_id in used}


async def charts_of_all(statistics: Statistics, now: float) -> Mapping[str, object]:
    """Return the charts of the requests and searches of readers, if there are any. The overview works without them."""
    today = day_of(now)
    first = today + 1 - DAYS
    try:
        counts = await statistics.counts(first, today)
    except Unavailable:
        return {}
    requests = [count for count in counts if count.kind == "requests" and is_of_readers(count)]
    searches = [count for count in counts if count.kind == "searches"]
    if not requests:
        return {}
    return {"requests": chart(requests, first, today), "searches": chart(searches, first, today)}


KEY_PART = KeyPart("statistics/key.html", _read)
