"""Handler of the search page: the search form, lists of entries and the filters beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from attrs import evolve, frozen

from ... import serialization
from ...domain.entries import Entry
from ...domain.errors import BadInput
from ...domain.facts import auth_of, facts_of, is_configurable, is_vendors_own, runs_of
from ...domain.filters import FILTERS, PACKAGES, filters_of, words_beside_filters, wrong_filter
from ...domain.ports.storage import Store
from ...domain.search import DEFAULT_ORDER, ORDERS, Order, Page, Query
from ...domain.tools import OfferedTool
from ...domain.views import Hit
from ...http import Request
from ...services.directory import Directory
from ._access import PageAccess
from ._cards import search_url
from ._entries import fact_marks
from ._entry_part import EntryPart
from ._facets import facets
from ._layout import Address, Layout
from ._parameters import page_parameters, search_words

PER_PAGE = 20
"""Hits per page."""

NEWEST = 6
"""Number of newest entries on the start page."""


@frozen
class Help:
    """A kind of filter: examples with their URLs, the key of the text that explains them, and its name and values for
    suggestions.
    """

    examples: Sequence[tuple[str, str]]
    text: str
    name: str = ""
    values: str = ""


def _help(name: str, *examples: str, values: Sequence[str] = ()) -> Help:
    return Help(
        _examples(*(f"{name}:{example}" for example in examples)), name, name, " ".join(values or FILTERS[name])
    )


def _examples(*words: str) -> Sequence[tuple[str, str]]:
    return [(word, search_url(word)) for word in words]


HELP = (
    _help("auth", "none", "key", "oauth"),
    _help("runs", "local", "remote"),
    _help("status", "works", "needs_login", "available"),
    _help("language", "rust", "python"),
    _help("license", "mit", "apache-2.0"),
    _help("package", "npm", "pypi", "oci", values=PACKAGES),
    _help("transport", "stdio", "http", "sse"),
    _help("tag", "monitoring"),
    _help("official", "true"),
    _help("namespace", "com.stripe"),
    _help("match", "tools"),
    Help(_examples('"vector database"'), "phrase"),
    Help(_examples("-word"), "excluded"),
)
"""The filters that the search page explains."""


class Card(NamedTuple):
    """An entry in a list, the marks of its facts, whether its vendor publishes it, and the tools that match."""

    entry: Entry
    marks: Sequence[str]
    vendor: bool
    tools: Sequence[OfferedTool] = ()


@frozen
class SearchPage:
    """Handles `/`. `_size` returns the number of entries, `_now` the seconds since the epoch."""

    _layout: Layout
    _access: PageAccess
    _directory: Directory
    _store: Store
    _size: Callable[[], int]
    _now: Callable[[], float]
    _parts: Sequence[EntryPart]

    async def get(self, request: Request) -> bytes:
        """Return the search form with the newest entries, or with a list of entries."""
        viewer = await self._access.authenticate(request)
        parameters = page_parameters(request)
        keywords, sort = search_words(parameters), _order(parameters)
        cursor, words = parameters.get("cursor"), words_beside_filters(keywords)
        is_list = bool(keywords or cursor or "sort" in parameters)
        values: dict[str, Any] = {
            "keywords": keywords,
            "longest": serialization.MAX_KEYWORDS,
            "words": words or keywords,
            "is_weak": False,
            "is_close": bool(words) and sort != DEFAULT_ORDER,
            "sort": sort if sort != DEFAULT_ORDER else "",
            "is_list": is_list,
            "is_continued": cursor is not None,
            "first_url": search_url(keywords, sort=sort if sort != DEFAULT_ORDER or not keywords else ""),
            "size": self._size(),
            "help": [each for each in HELP if each.name != "status" or self._finds_by("status")],
            "error": None,
            "filter": None,
            "cards": [],
            "orders": ORDERS,
            "notes": [],
            "next_url": "",
            "total": 0,
            "facets": [],
            "order": sort,
            "selected": [],
        }
        try:
            search = self._query(keywords, sort, cursor, PER_PAGE if is_list else 1)
            page = await self._directory.search(search, ("pages", self._access.client(request, viewer)))
            if is_list:
                values["cards"] = await self._cards(page)
                values["next_url"] = _next_url(search, page)
                values["is_weak"] = page.match == "weak"
                values["selected"] = filters_of(keywords)
            else:
                values["cards"] = await self._store.newest(NEWEST, _new_card)
            if page.summary is not None:
                values["total"], values["facets"] = page.summary.total, facets(keywords, page.summary)
            ids = [card.entry.mcp_id for card in values["cards"]]
            values["notes"] = [(part.note_template, part.notes(ids)) for part in self._parts]
        except BadInput as error:
            values["error"] = error.code
            values["filter"] = wrong_filter(keywords)
        status = 400 if values["error"] else 200
        address = Address(search_url(keywords), self._access.is_public and not is_list)
        return self._layout.page(request, "search.html", values, account=viewer, status=status, address=address)

    def _finds_by(self, name: str) -> bool:
        """Return whether a feature makes the filter `name` find entries."""
        return any(name in part.filters() for part in self._parts)

    def _query(self, keywords: str, sort: Order, cursor: str | None, limit: int) -> Query:
        """Return the query for a page of a list. Raises BadInput."""
        query = serialization.search_query(keywords, limit) if keywords else Query("", limit)
        after = serialization.decode_cursor(cursor, keywords, sort) if cursor else None
        return evolve(query, after=after, browse=True).sorted_by(sort, self._now())

    async def _cards(self, page: Page) -> list[Card]:
        hits = {hit.mcp_id: hit for hit in page.hits}
        tools = dict(zip(hits, page.hits.tools(), strict=False))
        return [
            Card(entry, _marks(hit), hit.vendor, tools.get(hit.mcp_id, ()))
            for entry in await self._store.entries(list(hits))
            for hit in (hits[entry.mcp_id],)
        ]


def _order(parameters: Mapping[str, str]) -> Order:
    return next((order for order in ORDERS if order == parameters.get("sort")), DEFAULT_ORDER)


def _marks(hit: Hit) -> Sequence[str]:
    return fact_marks(hit.auth, hit.runs, installable=hit.installable)


def _new_card(entry: Entry) -> Card:
    known = facts_of(entry).bits
    marks = fact_marks(auth_of(known), runs_of(known), installable=is_configurable(known))
    return Card(entry, marks, is_vendors_own(known))


def _next_url(query: Query, page: Page) -> str:
    """Return the URL of the next page, an empty text after the last page."""
    if page.next is None:
        return ""
    sort = "" if query.sort == DEFAULT_ORDER else query.sort
    return search_url(query.keywords, sort=sort, cursor=serialization.encode_cursor(query, page.next))
