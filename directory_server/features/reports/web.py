"""The web part of reports: routes, handlers, tab, link and notice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...config import Config
from ...web.admin import ADMIN, Notice, ReadNotice
from ...web.pages import EntryLink, Extension
from ...web.parts import Kernel, WebPart
from ...web.routes import PAGES, Route
from .operator_pages import REPORTS, OperatorPages
from .reader_pages import ReaderPages
from .settings import ReportsConfig
from .tables import Reports

NAME = "reports"


def _handlers(kernel: Kernel) -> Mapping[str, object]:
    reports = Reports(kernel.storage.tables)
    reader_pages = ReaderPages(
        kernel.layout,
        kernel.access,
        kernel.directory,
        reports,
        kernel.storage.attempts,
        kernel.proxies,
        kernel.now,
        kernel.config.of(ReportsConfig).enabled,
    )
    return {
        "reports": reader_pages,
        "report_list": OperatorPages(kernel.operators.of_folder(NAME), reports, kernel.now),
    }


def _notices(kernel: Kernel) -> Sequence[ReadNotice]:
    reports = Reports(kernel.storage.tables)

    async def open_reports() -> Notice | None:
        count = await reports.count()
        return Notice(REPORTS, f"{NAME}.open", count) if count else None

    return [open_reports]


def _entry_links(config: Config) -> Sequence[EntryLink]:
    return [EntryLink("report", f"{NAME}.link")] if config.of(ReportsConfig).enabled else []


PART = WebPart(
    routes=(
        Route("/servers/{mcp_id}/report", "GET", PAGES, "reports.get"),
        Route("/servers/{mcp_id}/report", "POST", PAGES, "reports.post"),
        Route("/servers/{mcp_id}/report/sent", "GET", PAGES, "reports.sent"),
        Route(f"{ADMIN}/reports", "GET", PAGES, "report_list.get"),
        Route(f"{ADMIN}/reports/close", "POST", PAGES, "report_list.close"),
    ),
    handlers=_handlers,
    extension=Extension(NAME, "directory_server.features.reports", tabs=((REPORTS, f"{NAME}.tab"),)),
    entry_links=_entry_links,
    notices=_notices,
)
