"""Handlers of the entry pages and the notification stream."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import frozen

from ... import serialization
from ...domain.throttling import Limiter
from ...http import Request
from ...http.proxies import Proxies
from ...services.directory import Directory
from ...streams import Hub
from ..throttling import AddressLimiter
from ._access import AccessMode, PageAccess, no_viewer
from ._entries import entry_view
from ._layout import Address, Layout, Viewer
from ._notifications import NewEntriesNotifier

OperatorBar = Callable[[Request, Viewer | None, str], Awaitable[Mapping[str, Any] | None]]
"""Returns the values of the bar that an operator sees on the page of the entry with a name; None for other viewers."""


async def no_bar(request: Request, viewer: Viewer | None, name: str) -> None:
    """Return None, because there are no operators."""


@frozen
class PageHandlers:
    """Handles `/servers/{mcp_id}` and `/news`; `_reports` is whether entries have a link to report them."""

    layout: Layout
    notifier: NewEntriesNotifier
    access: PageAccess
    _directory: Directory
    _reports: bool
    _operator_bar: OperatorBar

    async def entry(self, request: Request, mcp_id: str) -> bytes:
        """Return the page of an entry. Raises NotFound."""
        viewer = await self.access.authenticate(request)
        detail = await self._directory.detail(serialization.entry_id(mcp_id))
        language = self.layout.translations(request).language
        bar = await self._operator_bar(request, viewer, detail.server_name)
        values = {"entry": entry_view(detail, language), "reports": self._reports, "operator_bar": bar}
        address = Address(f"/servers/{detail.mcp_id}", self.access.is_public)
        return self.layout.page(request, "entry.html", values, account=viewer, address=address)

    async def notifications(self, request: Request) -> bytes | None:
        """Open the stream of notifications about new entries."""
        await self.access.authenticate(request)
        return self.notifier.open(request)


def page_handlers(
    directory: Directory,
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
    operator_bar: OperatorBar = no_bar,
    url: str = "",
) -> PageHandlers:
    """Return the handlers; `hub` holds the notification streams.

    `per_minute` is the limit of page requests of each member, and of each address for anonymous viewers. `hsts` is the
    max-age of Strict-Transport-Security in seconds, 0 for none. `reports` is whether readers may report entries.
    `url` is the public URL of the server, or empty.
    """
    rate = per_minute / 60
    addresses = AddressLimiter(proxies, now, rate=rate, burst=per_minute)
    accounts = Limiter(now, rate=rate, burst=per_minute)
    layout = Layout(
        proxies, searchable=mode != "off", is_public=mode == "public", sign_in=sign_in, hsts=hsts, url=url.rstrip("/")
    )
    access = PageAccess(mode, addresses, accounts, viewer, sign_in)
    return PageHandlers(layout, NewEntriesNotifier(hub, proxies), access, directory, reports, operator_bar)
