"""The pages of the directory: search and entries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from attrs import frozen

from ... import serialization
from ...domain.errors import BadInput
from ...domain.search import Page, Query
from ...http import Request
from ...http.headers import query
from ...http.proxies import Proxies
from ...services.directory import Directory
from ...streams import Hub
from ..rate_limit import AddressLimiter, Limiter
from ._access import Openness, PageAccess, nobody
from ._cards import Card, card
from ._entry import shown
from ._layout import Layout, Viewer
from ._notifications import NewEntriesNotifier

PER_PAGE = 20
"""Hits on a page."""

NEWEST = 6
"""Entries that are shown to one who has not searched yet."""


@frozen
class PageHandlers:
    """Answers `/`, `/servers/{mcp_id}` and `/news`; `size` tells how many entries there are."""

    frame: Layout
    news: NewEntriesNotifier
    _entrance: PageAccess
    _directory: Directory
    _size: Callable[[], int]

    async def search(self, request: Request) -> bytes:
        """Answer the form to search with, and below it what is found."""
        viewer = await self._entrance.authenticate(request)
        asked = _asked(request)
        language = self.frame.texts(request).language
        keywords = asked.get("q", "").strip()
        values: dict[str, Any] = {"keywords": keywords, "size": self._size(), "cards": [], "more": "", "error": None}
        values["later"] = "cursor" in asked
        try:
            if keywords:
                wanted = _query(keywords, asked.get("cursor"))
                page = await self._directory.search(wanted)
                values["cards"] = await self._cards(page, language)
                values["more"] = _more(wanted, page)
            else:
                values["cards"] = await self._directory.newest(NEWEST, lambda entry: card(entry, language))
        except BadInput as error:
            values["error"] = error.code
        status = 400 if values["error"] else 200
        return self.frame.page(request, "search.html", values, account=viewer, status=status)

    async def entry(self, request: Request, mcp_id: str) -> bytes:
        """Answer all that people want to know of an entry. Raises NotFound."""
        viewer = await self._entrance.authenticate(request)
        detail = await self._directory.detail(serialization.entry_id(mcp_id))
        language = self.frame.texts(request).language
        return self.frame.page(request, "entry.html", {"entry": shown(detail, language)}, account=viewer)

    async def watch(self, request: Request) -> bytes | None:
        """Answer with a stream of how many entries were added."""
        await self._entrance.authenticate(request)
        return self.news.open(request)

    async def _cards(self, page: Page, language: str) -> list[Card]:
        return [card(entry, language) for entry in await self._directory.entries(hit.mcp_id for hit in page.hits)]


def front(
    directory: Directory,
    size: Callable[[], int],
    hub: Hub,
    proxies: Proxies,
    now: Callable[[], float],
    openness: Openness,
    per_minute: int,
    *,
    viewer: Callable[[Request], Awaitable[Viewer | None]] = nobody,
    sign_in: str = "",
    hsts: int = 0,
) -> PageHandlers:
    """Return the pages; `hub` is for their streams.

    `per_minute` is how many of them each member may ask for, and each address from which others ask. Browsers that
    get one under TLS insist on TLS for `hsts` seconds.
    """
    rate = per_minute / 60
    addresses = AddressLimiter(proxies, now, rate=rate, burst=per_minute)
    accounts = Limiter(now, rate=rate, burst=per_minute)
    frame = Layout(proxies, searchable=openness != "off", sign_in=sign_in, hsts=hsts)
    entrance = PageAccess(openness, addresses, accounts, viewer, sign_in)
    return PageHandlers(frame, NewEntriesNotifier(hub, proxies), entrance, directory, size)


def _asked(request: Request) -> Mapping[str, str]:
    """Return the parameters of a URL that people may have got from anywhere, with whatever was added to it."""
    return dict(parse_qsl(query(request).decode("utf-8", "replace"), keep_blank_values=True))


def _query(keywords: str, cursor: str | None) -> Query:
    parameters = {"keywords": keywords, "limit": PER_PAGE, **({"cursor": cursor} if cursor else {})}
    return serialization.search_parameters(urlencode(parameters).encode())


def _more(asked: Query, page: Page) -> str:
    """Return where the next page is; an empty text after the last."""
    if page.next is None:
        return ""
    return "/?" + urlencode({"q": asked.keywords, "cursor": serialization.encode_cursor(asked, page.next)})
