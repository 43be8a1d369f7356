"""The web part of the documentation: routes and handlers."""

from __future__ import annotations

from collections.abc import Mapping

from ...web.pages import Extension
from ...web.parts import Kernel, WebPart
from ...web.routes import PAGES, Route
from .pages import DocsPages, paths


def _handlers(kernel: Kernel) -> Mapping[str, object]:
    return {"docs": DocsPages(kernel.layout, kernel.access)}


PART = WebPart(
    routes=(
        Route("/docs", "GET", PAGES, "docs.index"),
        Route("/docs/api", "GET", PAGES, "docs.api"),
        Route("/docs/api/objects", "GET", PAGES, "docs.objects"),
        Route("/docs/api/publishing", "GET", PAGES, "docs.publishing"),
        Route("/docs/{path:path}", "GET", PAGES, "docs.get"),
    ),
    handlers=_handlers,
    extension=Extension("docs", "directory_server.features.docs"),
    public_paths=paths,
)
