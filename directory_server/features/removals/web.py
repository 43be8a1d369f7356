"""The web part of removals: the public page."""

from __future__ import annotations

from attrs import frozen

from ...domain.versions import REMOVED
from ...http import Request
from ...web.pages import Address, Extension
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import App
from .rules import removal_of
from .settings import RemovalsConfig

NAME, PATH = "removals", "/removals"

MAX_SHOWN = 1_000
"""Removed entries on the page, the last removed first."""


@frozen
class RemovalPage:
    """Handles `/removals`."""

    app = App()

    _kernel: Kernel

    @app.get(PATH)
    async def get(self, request: Request) -> bytes:
        """Return the page of removed entries, for everybody who may read the pages."""
        kernel = self._kernel
        viewer = await kernel.access.identify(request)
        entries = await kernel.catalogue.of(request).store.of_source(REMOVED, limit=MAX_SHOWN)
        found = [(entry, removal) for entry in entries if (removal := removal_of(entry)) is not None]
        found.sort(key=lambda each: each[1].at, reverse=True)
        address = Address(PATH, kernel.access.is_public)
        values = {"removals": found, "is_on": bool(kernel.config.of(RemovalsConfig).sources)}
        return kernel.layout.page(request, f"{NAME}/list.html", values, account=viewer, address=address)


def _serve(kernel: Kernel) -> Endpoints:
    return Endpoints([RemovalPage(kernel).app])


PART = WebPart(
    extension=Extension(NAME, "directory_server.features.removals", list_parts=("link.html",)),
    serve=_serve,
)
