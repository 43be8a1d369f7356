"""Operator pages for usage: requests and searches by day and route, and frequent searches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from attrs import frozen

from ...domain.errors import Unavailable
from ...http import Request
from ...web.operator_requests import OperatorRequests, parameters
from .rules import DAY, LEAST, Count, day_of
from .settings import StatisticsConfig
from .tables import Statistics

PERIODS = (7, 30)
"""Days that the page can show; the first is the default."""

MAX_ROUTES = 40
"""Routes on the page, the most frequent first."""

MAX_TEXTS = 25
"""Texts of searches in each list."""


@frozen
class Row:
    """Requests, or searches, and those that failed. `day` is in days since the epoch, 0 for all days."""

    name: str
    total: int
    failed: int
    day: int = 0


@frozen
class DayRow:
    """A day with its requests and searches."""

    day: int
    date: str
    requests: Row
    searches: Row


@frozen
class OperatorPages:
    """Handles the page."""

    _requests: OperatorRequests
    _statistics: Statistics
    _now: Callable[[], float]
    _settings: StatisticsConfig

    async def get(self, request: Request) -> bytes:
        """Return the numbers of the last `days`, or of the `day` in the query."""
        member = await self._requests.member(request)
        asked, today = parameters(request), day_of(self._now())
        period = next((each for each in PERIODS if str(each) == asked.get("days")), PERIODS[0])
        day = next((each for each in range(today, today - max(PERIODS), -1) if str(each) == asked.get("day")), 0)
        first, last = (day, day) if day else (today + 1 - period, today)
        values = {
            "period": period,
            "periods": PERIODS,
            "days": self._settings.days,
            "query_days": self._settings.queries,
            "least": LEAST,
            "date": _date(day) if day else "",
        }
        texts = self._settings.queries
        try:
            counts = await self._statistics.counts(first, last)
            frequent = await self._statistics.queries(first, limit=MAX_TEXTS) if texts else []
            without = await self._statistics.queries(first, failed=True, limit=MAX_TEXTS) if texts else []
        except Unavailable:
            return self._requests.page(request, member.session, "list", {**values, "is_available": False}, 503)
        values |= {
            "is_available": True,
            "by_day": [] if day else [_day(counts, each) for each in range(last, first - 1, -1)],
            "routes": _by_name(counts, "requests")[:MAX_ROUTES],
            "apis": _by_name(counts, "searches"),
            "frequent": frequent,
            "without": without,
        }
        return self._requests.page(request, member.session, "list", values)


def _day(counts: Sequence[Count], day: int) -> DayRow:
    return DayRow(day, _date(day), _sum(counts, "requests", day), _sum(counts, "searches", day))


def _sum(counts: Sequence[Count], kind: str, day: int) -> Row:
    found = [count for count in counts if count.kind == kind and count.day == day]
    return Row("", sum(each.total for each in found), sum(each.failed for each in found), day)


def _by_name(counts: Sequence[Count], kind: str) -> list[Row]:
    """Return the numbers of each route or API on all days, the most frequent first."""
    rows: dict[str, Row] = {}
    for count in counts:
        if count.kind == kind:
            row = rows.get(count.name, Row(count.name, 0, 0))
            rows[count.name] = Row(count.name, row.total + count.total, row.failed + count.failed)
    return sorted(rows.values(), key=lambda row: (-row.total, row.name))


def _date(day: int) -> str:
    return datetime.fromtimestamp(day * DAY, UTC).strftime("%Y-%m-%d")
