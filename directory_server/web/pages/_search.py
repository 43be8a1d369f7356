"""Handler of the search page: the start page, lists of entries and the filters beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define, evolve, field
from markupsafe import Markup

from ... import serialization
from ...domain.entries import Entry
from ...domain.errors import BadInput
from ...domain.filters import (
    FILTERS,
    PACKAGES,
    Filter,
    filters_of,
    likely_keywords,
    with_filter,
    without_filter,
    words_beside_filters,
    wrong_filter,
)
from ...domain.ports.points import Points
from ...domain.scopes import Scope
from ...domain.search import DEFAULT_ORDER, ORDERS, Order, Page, Query, Summary
from ...domain.tools import OfferedTool
from ...domain.views import Hit
from ...http import Request
from ...services.catalogue import Catalogue
from ...services.directory import Directory
from ..forms import parameters
from ..routes import App
from ._access import PageAccess
from ._additions import ENTRY_PARTS, RESULT_PARTS, checks_of, read_bars
from ._cards import json_url, search_url
from ._facets import facets, list_url
from ._home import HomeRows
from ._layout import Address, Layout
from ._translations import Translations

PER_PAGE = 20
"""Hits per page."""

MAX_PAGE = 500
"""Pages of a list. A later one would take as long as all pages before it."""

MAX_HOMES = 32
"""Scopes whose start page is kept in memory."""

LEAST_CATEGORISED = 0.2
"""The share of entries with a category from which the start page shows the categories."""

MAX_BLAMED = 5
"""Filters of a query without results that are tried without."""

Card = tuple[Entry, Hit, Sequence[OfferedTool]]
"""An entry of a list, its record, and its tools that match."""


@define(eq=False)
class SearchPage:
    """Handles `/`. `_generation` changes with the entries, `_now` is the Unix time."""

    app = App()

    _layout: Layout
    _access: PageAccess
    _catalogue: Catalogue
    _generation: Callable[[], int]
    _now: Callable[[], float]
    _points: Points
    _has_open_registry: bool
    _homes: dict[Scope, HomeRows] = field(factory=dict, init=False)

    @app.get("/")
    async def get(self, request: Request) -> bytes:
        viewer = await self._access.authenticate(request)
        directory, scope = self._catalogue.of(request), self._catalogue.scope_of(request)
        given = parameters(request)
        keywords, order, number = search_words(given), _order(given), _page_number(given)
        is_list = bool(keywords or "sort" in given or "page" in given)
        words = words_beside_filters(keywords)
        values: dict[str, Any] = {
            "keywords": keywords,
            "longest": serialization.MAX_KEYWORDS,
            "json_url": json_url(keywords, has_open_registry=self._has_open_registry),
            "words": words or keywords,
            "corrected": "",
            "likely": "",
            "searched_for": "",
            "is_read_in_part": serialization.is_read_in_part(keywords),
            "is_weak": False,
            "sort": order if order != DEFAULT_ORDER else "",
            "is_list": is_list,
            "size": await directory.count(),
            "has_kinds": False,
            "now": self._now(),
            "offered": self._offered(),
            "error": None,
            "filter": None,
            "cards": [],
            "orders": ORDERS,
            "checks": {},
            "users": directory.users(),
            "previous_url": "",
            "next_url": "",
            "offset": PER_PAGE * (number - 1),
            "total": 0,
            "close": 0,
            "installable": "",
            "facets": [],
            "order": order,
            "selected": [],
            "blamed": [],
            "is_scoped": scope is not None,
            "bars": [],
        }
        try:
            source = "pages", self._access.client(request, viewer)
            page = await self._page(directory, keywords, order, number, source)
            summary = page.summary or Summary(0, 0, {})
            values["has_kinds"] = "kind" in summary.facets
            if is_list:
                values |= await self._list(directory, keywords, order, number, page, summary)
                if keywords and number == 1:
                    values["bars"] = await read_bars(self._points.all(RESULT_PARTS), request, viewer, keywords)
            else:
                values["home"] = await self._home_html(self._home(directory, scope), summary)
        except BadInput as error:
            values |= {"error": error.code, "filter": wrong_filter(keywords), "is_list": True}
        status = 400 if values["error"] else 200
        address = Address(search_url(keywords), self._access.is_public and not is_list)
        return self._layout.page(request, "search.html", values, account=viewer, status=status, address=address)

    def _home(self, directory: Directory, scope: Scope) -> HomeRows:
        """Return the rows of the start page within a scope."""
        if scope not in self._homes and len(self._homes) >= MAX_HOMES:
            del self._homes[next(iter(self._homes))]
        return self._homes.setdefault(scope, HomeRows(directory, self._generation))

    async def _home_html(self, home: HomeRows, summary: Summary) -> Callable[[Translations], Markup]:
        """Return a function that returns the rows and categories of the start page in a language."""
        now = self._now()
        rows = await home.rows()

        def render(texts: Translations) -> Markup:
            checks = checks_of(self._points, [entry.mcp_id for _, _, _, listed in rows for entry, _ in listed])
            categories = summary.facets.get("category", ())
            is_shown = sum(category.count for category in categories) >= LEAST_CATEGORISED * summary.total
            values = {"rows": rows, "categories": categories if is_shown else (), "now": now, "checks": checks}
            values["users"] = home.users
            return self._layout.fragment("_home.html", values, texts)

        return lambda texts: home.html(now, texts, render)

    async def _list(
        self, directory: Directory, keywords: str, order: Order, number: int, page: Page, summary: Summary
    ) -> Mapping[str, object]:
        cards = await _cards(directory, page)
        ids = [entry.mcp_id for entry, _, _ in cards]
        return {
            "cards": cards,
            "checks": checks_of(self._points, ids),
            "is_weak": page.match == "weak",
            "searched_for": page.searched_for,
            "corrected": _corrected(words_beside_filters(keywords), summary.corrected) if cards else "",
            "likely": likely_keywords(keywords),
            "selected": filters_of(keywords),
            "total": summary.total,
            "close": summary.close,
            "installable": _installable(keywords, cards, summary),
            "facets": facets(keywords, summary, order),
            "blamed": await self._blamed(directory, keywords, order) if not summary.total else [],
            "previous_url": list_url(keywords, order, number - 1) if number > 1 else "",
            "next_url": list_url(keywords, order, number + 1) if page.next and number < MAX_PAGE else "",
        }

    async def _page(
        self, directory: Directory, keywords: str, order: Order, number: int, source: tuple[str, str] | None = None
    ) -> Page:
        """Return a page of a list. Raises BadInput."""
        query = serialization.search_query(keywords, PER_PAGE) if keywords else Query("", PER_PAGE)
        query = evolve(query, browse=True, kinds="all", offset=PER_PAGE * (number - 1)).sorted_by(order, self._now())
        return await directory.search(query, source)

    async def _blamed(
        self, directory: Directory, keywords: str, order: Order
    ) -> Sequence[tuple[Sequence[Filter], str, int]]:
        """Return the filters without which a query has results, with that query and their number.

        These are single filters, and all together if no single one prevents the results.
        """
        filters = filters_of(keywords)
        blamed: list[tuple[Sequence[Filter], str, int]] = []
        for filter in filters[:MAX_BLAMED]:
            fewer = without_filter(keywords, filter)
            if total := await self._total(directory, fewer, order):
                blamed.append(([filter], fewer, total))
        words = words_beside_filters(keywords)
        if not blamed and len(filters) > 1 and (total := await self._total(directory, words, order)):
            blamed.append((filters, words, total))
        return blamed

    async def _total(self, directory: Directory, keywords: str, order: Order) -> int:
        page = await self._page(directory, keywords, order, 1)
        return page.summary.total if page.summary else 0

    def _offered(self) -> Mapping[str, Sequence[str]]:
        """Return the filters that suggestions offer, and their values. Some find entries only because of a feature."""
        added = {name for part in self._points.all(ENTRY_PARTS) for name in part.filters()}
        offered = {name: values for name, values in FILTERS.items() if name != "status" or name in added}
        return {**offered, "package": PACKAGES}


async def _cards(directory: Directory, page: Page) -> Sequence[Card]:
    hits = {hit.mcp_id: hit for hit in page.hits}
    tools = dict(zip(hits, page.hits.tools(), strict=False))
    entries = await directory.store.entries(list(hits))
    return [(entry, hits[entry.mcp_id], tools.get(entry.mcp_id, ())) for entry in entries]


def _installable(keywords: str, cards: Sequence[Card], summary: Summary) -> str:
    """Return the search for the matches that can be installed; an empty text if there are none, or only these here."""
    is_mixed = "installable" in summary.facets and not all(hit.installable for _, hit, _ in cards)
    return with_filter(keywords, "installable", "true") if is_mixed else ""


def search_words(given: Mapping[str, str]) -> str:
    """Return the search words of query parameters: `q`, or `keywords`, as the REST API calls them."""
    return (given.get("q") or given.get("keywords", "")).strip()


def _order(given: Mapping[str, str]) -> Order:
    return next((order for order in ORDERS if order == given.get("sort")), DEFAULT_ORDER)


def _page_number(given: Mapping[str, str]) -> int:
    """Return the number of a page, 1 for what is no number."""
    text = given.get("page", "")
    return min(max(int(text), 1), MAX_PAGE) if text.isascii() and text.isdigit() and len(text) < 10 else 1


def _corrected(words: str, corrected: Mapping[str, str]) -> str:
    """Return the search words with those that were corrected, an empty text if none was."""
    text = " ".join(corrected.get(word.casefold(), word) for word in words.split())
    return text if text != words else ""
