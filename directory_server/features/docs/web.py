"""The web part of the documentation: routes and handlers."""

from __future__ import annotations

from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import PAGES, Route
from .pages import DocsPages, paths


def _serve(kernel: Kernel) -> Endpoints:
    return Endpoints({"docs": DocsPages(kernel)})


PART = WebPart(
    routes=(
        Route("/docs", "GET", PAGES, "docs.index"),
        Route("/docs/api", "GET", PAGES, "docs.api"),
        Route("/docs/api/objects", "GET", PAGES, "docs.objects"),
        Route("/docs/api/publishing", "GET", PAGES, "docs.publishing"),
        Route("/docs/{path:path}", "GET", PAGES, "docs.get"),
    ),
    serve=_serve,
    extension=Extension("docs", "directory_server.features.docs"),
    public_paths=paths,
)
