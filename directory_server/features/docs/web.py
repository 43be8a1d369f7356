"""The web part of the documentation: handlers."""

from __future__ import annotations

from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from .pages import DocsPages, paths


def _serve(kernel: Kernel) -> Endpoints:
    return Endpoints([DocsPages(kernel).app])


PART = WebPart(
    serve=_serve,
    extension=Extension("docs", "directory_server.features.docs"),
    public_paths=paths,
)
