"""The web part of removals: the public page."""

from __future__ import annotations

from attrs import frozen

from ...domain.versions import REMOVED
from ...feature.parts import WebPart
from ...feature.server import Server
from ...http import Request
from ...web.pages import Address
from ...web.routes import APPS, App
from .rules import removal_of
from .settings import RemovalsConfig

NAME, PATH = "removals", "/removals"

MAX_SHOWN = 1_000
"""Removed entries on the page, the last removed first."""


@frozen
class RemovalPage:
    """Handles `/removals`."""

    app = App()

    _server: Server

    @app.get(PATH)
    async def get(self, request: Request) -> bytes:
        """Return the page of removed entries, for everybody who may read the pages."""
        server = self._server
        viewer = await server.access.identify(request)
        entries = await server.catalogue.of(request).store.of_source(REMOVED, limit=MAX_SHOWN)
        found = [(entry, removal) for entry in entries if (removal := removal_of(entry)) is not None]
        found.sort(key=lambda each: each[1].at, reverse=True)
        address = Address(PATH, server.access.is_public)
        values = {"removals": found, "is_on": bool(server.config.of(RemovalsConfig).sources)}
        return server.layout.page(request, f"{NAME}/list.html", values, account=viewer, address=address)


PART = WebPart(
    list_parts=("link.html",),
    serve=lambda server: server.add(APPS, RemovalPage(server).app),
)
