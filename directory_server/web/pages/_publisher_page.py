"""The page of a publisher: the entries of a namespace."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from urllib.parse import urlencode

from attrs import frozen

from ...domain.entries import mcp_id_of
from ...domain.errors import NotFound
from ...domain.filters import with_filter
from ...domain.notes import missing_packages
from ...domain.ports.points import Points
from ...http import Request
from ...services.catalogue import Catalogue
from ...services.known_notes import KnownNotes
from ..forms import parameters
from ..routes import App
from ._access import PageAccess
from ._additions import checks_of
from ._cards import json_url
from ._layout import Address, Layout
from ._publishers import publisher, publisher_url

PER_PAGE = 50
"""Entries on a page."""


@frozen
class PublisherPage:
    """Handles `/publishers/{namespace}`."""

    app = App()

    _layout: Layout
    _access: PageAccess
    _catalogue: Catalogue
    _points: Points
    _notes: KnownNotes
    _has_open_registry: bool
    _now: Callable[[], float]

    @app.get("/publishers/{namespace}")
    async def get(self, request: Request, namespace: str) -> bytes:
        """Return a page of the entries in a namespace, by name. Raises NotFound if it has none."""
        viewer = await self._access.authenticate(request)
        directory = self._catalogue.of(request)
        store = directory.store
        prefix = f"{namespace}/"
        after = parameters(request).get("after", "")
        start = (after, "\U0010ffff") if after.startswith(prefix) else (prefix, "")
        listed = await store.listing(start, PER_PAGE + 1, every_kind=True) if publisher(prefix) else []
        names = [version.name for version in takewhile(lambda version: version.name.startswith(prefix), listed)]
        entries = await store.entries([mcp_id_of(name) for name in names[:PER_PAGE]])
        if not entries:
            raise NotFound("No server of this publisher is in this directory.")
        ids = [entry.mcp_id for entry in entries]
        hits = directory.hits(ids)
        path = publisher_url(namespace)
        values = {
            "namespace": namespace,
            "cards": [(entry, hits.get(entry.mcp_id) or entry.hit()) for entry in entries],
            "checks": checks_of(self._points, ids),
            "missing": {mcp_id: missing_packages(self._notes.of(mcp_id)) for mcp_id in ids},
            "now": self._now(),
            "json_url": json_url(with_filter("", "namespace", namespace), has_open_registry=self._has_open_registry),
            "next_url": f"{path}?{urlencode({'after': names[PER_PAGE - 1]})}" if len(names) > PER_PAGE else "",
        }
        address = Address(path, self._access.is_public and not after)
        return self._layout.page(request, "publisher.html", values, account=viewer, address=address)
