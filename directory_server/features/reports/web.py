"""The web part of reports: routes, handlers, tab, link and notice."""

from __future__ import annotations

from typing import Any

from ...web.operator_requests import ADMIN, Notice
from ...web.pages import EntryLink, Extension
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import PAGES, Route
from .operator_pages import REPORTS, OperatorPages
from .reader_pages import ReaderPages
from .settings import ReportsConfig
from .tables import Reports

NAME = "reports"


def _serve(kernel: Kernel) -> Endpoints:
    reports, is_enabled = Reports(kernel.storage.tables), kernel.config.of(ReportsConfig).enabled

    reader_pages = ReaderPages(
        layout=kernel.layout,
        access=kernel.access,
        catalogue=kernel.catalogue,
        reports=reports,
        attempts=kernel.storage.attempts,
        proxies=kernel.proxies,
        now=kernel.now,
        is_on=is_enabled,
    )
    return Endpoints(
        handlers={
            "reports": reader_pages,
            "report_list": OperatorPages(kernel.operators.of_folder(NAME), reports, kernel.now),
        },
        entry_links=[EntryLink("report", f"{NAME}.link")] if is_enabled else [],
    )


async def _open_reports(storage: Any) -> Notice | None:
    count = await Reports(storage.tables).count()
    return Notice(REPORTS, f"{NAME}.open", count) if count else None


PART = WebPart(
    routes=(
        Route("/servers/{mcp_id}/report", "GET", PAGES, "reports.get"),
        Route("/servers/{mcp_id}/report", "POST", PAGES, "reports.post"),
        Route("/servers/{mcp_id}/report/sent", "GET", PAGES, "reports.sent"),
        Route(f"{ADMIN}/reports", "GET", PAGES, "report_list.get"),
        Route(f"{ADMIN}/reports/close", "POST", PAGES, "report_list.close"),
    ),
    serve=_serve,
    notices=(_open_reports,),
    extension=Extension(NAME, "directory_server.features.reports", tabs=((REPORTS, f"{NAME}.tab"),)),
)
