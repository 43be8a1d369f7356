"""The web part of the documentation: handlers."""

from __future__ import annotations

from ...feature.parts import PUBLIC_PATHS, WebPart
from ...feature.server import Server
from ...web.pages import Extension
from ...web.routes import APPS
from .pages import DocsPages, paths


def _serve(server: Server) -> None:
    server.add(APPS, DocsPages(server).app)
    server.add(PUBLIC_PATHS, paths)


PART = WebPart(
    serve=_serve,
    extension=Extension("docs", "directory_server.features.docs"),
)
