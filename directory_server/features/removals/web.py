"""The web part of removals: the public page."""

from __future__ import annotations

from attrs import frozen

from ...domain.versions import REMOVED
from ...http import Request
from ...services.catalogue import Catalogue
from ...web.pages import Address, Extension, Layout, PageAccess
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import PAGES, Route
from .rules import removal_of
from .settings import RemovalsConfig

NAME, PATH = "removals", "/removals"

MAX_SHOWN = 1_000
"""Removed entries on the page, the last removed first."""


@frozen
class RemovalPage:
    """Handles `/removals`."""

    _layout: Layout
    _access: PageAccess
    _catalogue: Catalogue
    _is_on: bool

    async def get(self, request: Request) -> bytes:
        """Return the page of removed entries, for everybody who may read the pages."""
        viewer = await self._access.identify(request)
        entries = await self._catalogue.of(request).store.of_source(REMOVED, limit=MAX_SHOWN)
        found = [(entry, removal) for entry in entries if (removal := removal_of(entry)) is not None]
        found.sort(key=lambda each: each[1].at, reverse=True)
        address = Address(PATH, self._access.is_public)
        values = {"removals": found, "is_on": self._is_on}
        return self._layout.page(request, f"{NAME}/list.html", values, account=viewer, address=address)


def _serve(kernel: Kernel) -> Endpoints:
    is_on = bool(kernel.config.of(RemovalsConfig).sources)
    return Endpoints({"removals": RemovalPage(kernel.layout, kernel.access, kernel.catalogue, is_on)})


PART = WebPart(
    extension=Extension(NAME, "directory_server.features.removals", list_parts=("link.html",)),
    routes=(Route(PATH, "GET", PAGES, "removals.get"),),
    serve=_serve,
)
