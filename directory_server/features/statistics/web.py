"""The web part of statistics: a page for operators, and charts of keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from attrs import evolve, frozen

from ...domain.errors import Unavailable
from ...domain.titles import display_title
from ...feature.parts import WebPart
from ...feature.server import Server
from ...http import Request
from ...tables import Storage
from ...web.access_log import UNMATCHED
from ...web.forms import parameters
from ...web.operator_requests import ADMIN, OVERVIEW_PARTS, OperatorRequests, OverviewPart
from ...web.pages import ASSETS_PATH, KEY_PARTS, KeyPart
from ...web.routes import APPS, App
from .rules import DAY, Count, Total, day_of
from .settings import StatisticsConfig
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


PERIODS = (30, 7, 90)
"""Days that the page can show; the first is the default."""

PAGE = f"{ADMIN}/usage"

MAX_ROUTES = 40
"""Routes on the page, the most frequent first."""

MAX_TEXTS = 25
"""Texts of searches in each list."""

MAX_NAMES = 10
"""Entries, keys and clients in each list."""

MAX_KEYS = 1_000
"""Keys whose clients are counted, the most active first."""


@frozen
class Row:
    """A row of a ranking. `percent` compares its number with the greatest one; `href` may be empty."""

    name: str
    total: int
    failed: int
    percent: int
    href: str = ""
    detail: str = ""


@frozen
class OperatorPages:
    """Handles the page."""

    app = App()

    _requests: OperatorRequests
    _statistics: Statistics
    _server: Server
    _settings: StatisticsConfig

    @app.get(PAGE)
    async def get(self, request: Request) -> bytes:
        """Return the numbers of the last `days`, or of the `day` in the query."""
        member = await self._requests.member(request)
        asked, today = parameters(request), day_of(self._server.now())
        period = next((period for period in PERIODS if str(period) == asked.get("days")), PERIODS[0])
        day = next((day for day in range(today, today - max(PERIODS), -1) if str(day) == asked.get("day")), 0)
        first, last = (day, day) if day else (today + 1 - period, today)
        values = {
            "period": period,
            "periods": PERIODS,
            "days": self._settings.days,
            "query_days": self._settings.queries,
            "least": self._settings.query_clients,
            "date": date_of(day) if day else "",
        }
        try:
            values |= await self._numbers(first, last)
        except Unavailable:
            return self._requests.page(request, member.session, "list", {**values, "is_available": False}, 503)
        return self._requests.page(request, member.session, "list", {**values, "is_available": True})

    async def _numbers(self, first: int, last: int) -> dict[str, object]:
        """Return the numbers of the days from `first` to `last`. Raises Unavailable."""
        statistics, texts = self._statistics, self._settings.queries
        counts = await statistics.counts(first, last)
        searched = [count for count in counts if count.kind == "searches"]
        requested = [count for count in counts if count.kind == "requests"]
        readers = [count for count in requested if is_of_readers(count)]
        requests, searches = chart(readers, first, last), chart(searched, first, last)
        pairs = zip(requests.bars, searches.bars, strict=True)
        active = await statistics.totals("keys", first, last, limit=MAX_KEYS)
        return {
            "requests": requests,
            "searches": searches,
            "misses": chart([evolve(count, total=count.failed, failed=0) for count in searched], first, last),
            "by_day": [pair for pair in pairs if pair[0].total or pair[1].total][::-1],
            "routes": [_route(row) for row in _rows(_by_name(readers))[:MAX_ROUTES]],
            "apis": _rows(_by_name(searched)),
            "entries": await self._entries(await statistics.totals("entries", first, last, limit=MAX_NAMES)),
            "active": len(active),
            "key_requests": sum(total.total for total in active),
            "keys": [await self._key(row) for row in _rows(active[:MAX_NAMES])],
            "clients": _rows(await self._clients(active))[:MAX_NAMES],
            "frequent": _rows(await statistics.queries(first, limit=MAX_TEXTS)) if texts else [],
            "without": _rows(await statistics.queries(first, failed=True, limit=MAX_TEXTS)) if texts else [],
        }

    async def _entries(self, totals: Sequence[Total]) -> Sequence[Row]:
        """Return the rows of entries with their names; an entry that was removed has its id."""
        rows = []
        for row in _rows(totals):
            entry = await self._server.storage.store.entry(row.name)
            named = (
                None
                if entry is None
                else evolve(row, name=display_title(entry.title, entry.name), href=f"/servers/{row.name}")
            )
            rows.append(named or row)
        return rows

    async def _key(self, row: Row) -> Row:
        """Return the row of a key with its label and its owner; a key that was revoked has its id."""
        listed = await self._server.storage.people.roster.key(row.name)
        if listed is None:
            return row
        return evolve(row, name=listed.key.label, detail=listed.email, href=f"{ADMIN}/keys/{row.name}")

    async def _clients(self, totals: Sequence[Total]) -> Sequence[Total]:
        """Return the requests of the keys by the client that has used each key last."""
        uses = await self._server.storage.people.key_uses.of([total.name for total in totals])
        numbers: dict[str, Counter[str]] = {}
        for total in totals:
            if total.name in uses and (name := uses[total.name].client.name):
                numbers.setdefault(name, Counter()).update(total=total.total, failed=total.failed)
        return _greatest_first(Total(name, number["total"], number["failed"]) for name, number in numbers.items())


def _route(row: Row) -> Row:
    """Return the row of a route; paths without a route have no name."""
    return evolve(row, name="") if row.name == UNMATCHED else row


def _by_name(counts: Iterable[Count]) -> Sequence[Total]:
    """Return the numbers of each name on all days, the greatest first."""
    numbers: dict[str, Counter[str]] = {}
    for count in counts:
        numbers.setdefault(count.name, Counter()).update(total=count.total, failed=count.failed)
    return _greatest_first(Total(name, number["total"], number["failed"]) for name, number in numbers.items())


def _greatest_first(totals: Iterable[Total]) -> Sequence[Total]:
    return sorted(totals, key=lambda total: (-total.total, total.name))


def _rows(totals: Sequence[Total]) -> list[Row]:
    """Return the rows of a ranking, without those of zero."""
    greatest = max((total.total for total in totals), default=0)
    return [
        Row(total.name, total.total, total.failed, max(1, round(100 * total.total / greatest)))
        for total in totals
        if total.total
    ]


NAME = "statistics"


def _serve(server: Server) -> None:
    settings = server.config.of(StatisticsConfig)
    requests, statistics = server.operators.of_folder(NAME), Statistics(server.storage.statistics_tables)
    server.add(KEY_PARTS, KEY_PART)
    if settings.days:
        part = OverviewPart("statistics/overview.html", lambda: charts_of_all(statistics, server.now()))
        server.add(OVERVIEW_PARTS, part)
    server.add(APPS, OperatorPages(requests, statistics, server, settings).app)


PART = WebPart(
    serve=_serve,
    tabs=(("server", PAGE, f"{NAME}.tab"),),
)
