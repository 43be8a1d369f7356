"""The web part of reports: the form of readers, and the link to it."""

from __future__ import annotations

from ...feature.parts import WebPart
from ...feature.server import Server
from ...tables import Requests
from ...web.pages import ENTRY_LINKS, EntryLink, Extension
from ...web.routes import APPS
from .reader_pages import ReaderPages
from .resource import REPORT
from .settings import ReportsConfig

NAME = "reports"


def _serve(server: Server) -> None:
    is_enabled = server.config.of(ReportsConfig).enabled
    server.add(APPS, ReaderPages(server, Requests(server.storage.tables, (REPORT,)), is_enabled).app)
    if is_enabled:
        server.add(ENTRY_LINKS, EntryLink("report", f"{NAME}.link"))


PART = WebPart(serve=_serve, extension=Extension(NAME, "directory_server.features.reports"))
