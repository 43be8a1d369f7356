"""Handlers of the search page, the entry pages and the notification stream."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from attrs import frozen

from ... import serialization
from ...domain.entries import Entry
from ...domain.errors import BadInput
from ...domain.facts import auth_of, facts_of, runs_of
from ...domain.filters import wrong_filter
from ...domain.ports.storage import Store
from ...domain.search import Page, Query
from ...domain.throttling import Limiter
from ...http import Request
from ...http.headers import query
from ...http.proxies import Proxies
from ...services.directory import Directory
from ...streams import Hub
from ..throttling import AddressLimiter
from ._access import AccessMode, PageAccess, no_viewer
from ._entries import Card, card, entry_view, fact_marks
from ._layout import Layout, Viewer
from ._notifications import NewEntriesNotifier

PER_PAGE = 20
"""Hits per page."""

FILTERS = (
    ("auth:none auth:key auth:oauth", "auth"),
    ("runs:local runs:remote", "runs"),
    ("language:rust", "language"),
    ("license:mit", "license"),
    ("package:npm package:pypi package:oci", "package"),
    ("transport:stdio transport:http transport:sse", "transport"),
    ("tag:monitoring", "tag"),
    ("official:true", "official"),
    ('"vector database"', "phrase"),
    ("-word", "excluded"),
)
"""Examples of filters, and the keys of the texts that explain them."""

NEWEST = 6
"""Number of newest entries on the start page."""


@frozen
class PageHandlers:
    """Handles `/`, `/servers/{mcp_id}` and `/news`; `_size` returns the number of entries.

    `_reports` is whether entries have a link to report them.
    """

    layout: Layout
    notifier: NewEntriesNotifier
    access: PageAccess
    _directory: Directory
    _store: Store
    _size: Callable[[], int]
    _reports: bool

    async def search(self, request: Request) -> bytes:
        """Return the search form and the results."""
        viewer = await self.access.authenticate(request)
        parameters = _parameters(request)
        language = self.layout.translations(request).language
        keywords = parameters.get("q", "").strip()
        values: dict[str, Any] = {
            "keywords": keywords,
            "size": self._size(),
            "cards": [],
            "next_url": "",
            "error": None,
            "filter": None,
            "filters": FILTERS,
        }
        values["is_continued"] = "cursor" in parameters
        try:
            if keywords:
                search = _query(keywords, parameters.get("cursor"))
                page = await self._directory.search(search)
                values["cards"] = await self._cards(page, language)
                values["next_url"] = _next_url(search, page)
            else:
                values["cards"] = await self._store.newest(NEWEST, lambda entry: _new_card(entry, language))
        except BadInput as error:
            values["error"] = error.code
            values["filter"] = wrong_filter(keywords)
        status = 400 if values["error"] else 200
        return self.layout.page(request, "search.html", values, account=viewer, status=status)

    async def entry(self, request: Request, mcp_id: str) -> bytes:
        """Return the page of an entry. Raises NotFound."""
        viewer = await self.access.authenticate(request)
        detail = await self._directory.detail(serialization.entry_id(mcp_id))
        language = self.layout.translations(request).language
        values = {"entry": entry_view(detail, language), "reports": self._reports}
        return self.layout.page(request, "entry.html", values, account=viewer)

    async def notifications(self, request: Request) -> bytes | None:
        """Open the stream of notifications about new entries."""
        await self.access.authenticate(request)
        return self.notifier.open(request)

    async def _cards(self, page: Page, language: str) -> list[Card]:
        hits = {hit.mcp_id: hit for hit in page.hits}
        return [
            card(entry, language, fact_marks(hit.auth, hit.runs))
            for entry in await self._store.entries(list(hits))
            for hit in (hits[entry.mcp_id],)
        ]


def page_handlers(
    directory: Directory,
    store: Store,
    size: Callable[[], int],
    hub: Hub,
    proxies: Proxies,
    now: Callable[[], float],
    mode: AccessMode,
    per_minute: int,
    *,
    viewer: Callable[[Request], Awaitable[Viewer | None]] = no_viewer,
    sign_in: str = "",
    hsts: int = 0,
    reports: bool = True,
) -> PageHandlers:
    """Return the handlers; `hub` holds the notification streams.

    `per_minute` is the limit of page requests of each member, and of each address for anonymous viewers. `hsts` is the
    max-age of Strict-Transport-Security in seconds, 0 for none. `reports` is whether readers may report entries.
    """
    rate = per_minute / 60
    addresses = AddressLimiter(proxies, now, rate=rate, burst=per_minute)
    accounts = Limiter(now, rate=rate, burst=per_minute)
    layout = Layout(proxies, searchable=mode != "off", sign_in=sign_in, hsts=hsts)
    access = PageAccess(mode, addresses, accounts, viewer, sign_in)
    return PageHandlers(layout, NewEntriesNotifier(hub, proxies), access, directory, store, size, reports)


def _new_card(entry: Entry, language: str) -> Card:
    facts = facts_of(entry).bits
    return card(entry, language, fact_marks(auth_of(facts), runs_of(facts)))


def _parameters(request: Request) -> Mapping[str, str]:
    """Return the query parameters. Unknown parameters and invalid UTF-8 are accepted, because links may be altered."""
    return dict(parse_qsl(query(request).decode("utf-8", "replace"), keep_blank_values=True))


def _query(keywords: str, cursor: str | None) -> Query:
    parameters = {"keywords": keywords, "limit": PER_PAGE, **({"cursor": cursor} if cursor else {})}
    return serialization.search_parameters(urlencode(parameters).encode())


def _next_url(query: Query, page: Page) -> str:
    """Return the URL of the next page, an empty text after the last page."""
    if page.next is None:
        return ""
    return "/?" + urlencode({"q": query.keywords, "cursor": serialization.encode_cursor(query, page.next)})
