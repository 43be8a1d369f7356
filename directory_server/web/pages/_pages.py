"""Handler of the notification stream, and what all pages share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from attrs import frozen

from ...domain.throttling import Limiter
from ...http import Request
from ...http.proxies import Proxies
from ...streams import Hub
from ..throttling import AddressLimiter
from ._access import AccessMode, PageAccess, no_viewer
from ._brand import OWN, Brand
from ._extension import Extension
from ._layout import EntryImage, Layout, Viewer, compile_templates, is_anonymous, no_image, templates
from ._notifications import NewEntriesNotifier
from ._translations import load


@frozen
class PageHandlers:
    """Handles `/news`."""

    layout: Layout
    notifier: NewEntriesNotifier
    access: PageAccess

    async def notifications(self, request: Request) -> bytes | None:
        """Open the stream of notifications about new entries."""
        await self.access.authenticate(request)
        return self.notifier.open(request)


def preload(mode: AccessMode, sign_in: str, extensions: tuple[Extension, ...], brand: Brand) -> None:
    """Load the texts and compile the templates, which `page_handlers` with the same arguments then finds."""
    load(extensions, brand)
    _, environment = templates(mode != "off", mode == "public", sign_in, extensions, brand)
    compile_templates(environment)


def page_handlers(
    hub: Hub,
    proxies: Proxies,
    now: Callable[[], float],
    mode: AccessMode,
    per_minute: int,
    *,
    viewer: Callable[[Request], Awaitable[Viewer | None]] = no_viewer,
    sign_in: str = "",
    may_be_signed_in: Callable[[Request], bool] = is_anonymous,
    hsts: int = 0,
    url: str = "",
    extensions: tuple[Extension, ...] = (),
    entry_image: EntryImage = no_image,
    brand: Brand = OWN,
) -> PageHandlers:
    """Return the handlers; `hub` holds the notification streams.

    `per_minute` is the limit of page requests of each member, and of each address for anonymous viewers. `hsts` is the
    max-age of Strict-Transport-Security in seconds, 0 for none. `url` is the public URL of the server, or empty.
    """
    rate = per_minute / 60
    addresses = AddressLimiter(proxies, now, rate=rate, burst=per_minute)
    accounts = Limiter(now, rate=rate, burst=per_minute)
    layout = Layout(
        proxies,
        searchable=mode != "off",
        is_public=mode == "public",
        sign_in=sign_in,
        may_be_signed_in=may_be_signed_in,
        hsts=hsts,
        url=url.rstrip("/"),
        extensions=extensions,
        entry_image=entry_image,
        brand=brand,
    )
    access = PageAccess(mode, addresses, accounts, viewer, sign_in)
    return PageHandlers(layout, NewEntriesNotifier(hub, proxies), access)
