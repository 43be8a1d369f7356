"""The web part of reports: handlers, tab, link and notice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from ...feature.parts import WebPart
from ...feature.server import Server
from ...web.account import Next, Sent, form, page
from ...web.operator_requests import ADMIN, NOTICES, Notice, OperatorRequests
from ...web.pages import ENTRY_LINKS, EntryLink, Extension
from ...web.routes import APPS, App
from .reader_pages import ReaderPages
from .settings import ReportsConfig
from .tables import MAX_OPEN, Reports

REPORTS = f"{ADMIN}/reports"

REPORTS_PER_PAGE = 6
"""Reports on one page. Each may have a text of a thousand characters."""


@frozen
class OperatorPages:
    """Handles the list of reports, and the form that closes one."""

    app = App()

    _requests: OperatorRequests
    _reports: Reports
    _now: Callable[[], float]

    @app.get(f"{ADMIN}/reports")
    @page("list")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        """Return a page of the open reports, or of the closed ones."""
        is_closed, number = sent.fields.get("state") == "closed", _page(sent.fields.get("page", ""))
        first = (number - 1) * REPORTS_PER_PAGE
        found = await self._reports.list(closed=is_closed, limit=first + REPORTS_PER_PAGE + 1)
        state = "state=closed&" if is_closed else ""
        return {
            "reports": found[first : first + REPORTS_PER_PAGE],
            "is_closed": is_closed,
            "count": await self._reports.count(),
            "next_url": f"{REPORTS}?{state}page={number + 1}" if len(found) > first + REPORTS_PER_PAGE else "",
        }

    @app.post(f"{ADMIN}/reports/close")
    @form(REPORTS)
    async def close(self, sent: Sent) -> Next:
        """Close a report, and go to the open ones."""
        await self._reports.close(sent.fields.get("id", ""), self._now())
        return Next(REPORTS, "closed")


def _page(text: str) -> int:
    """Return the number of a page from 1; 1 for another text."""
    last = MAX_OPEN // REPORTS_PER_PAGE + 1
    return min(int(text), last) if text.isascii() and text.isdecimal() and 0 < len(text) < 6 and int(text) else 1


NAME = "reports"


def _serve(server: Server) -> None:
    reports, is_enabled = Reports(server.storage.tables), server.config.of(ReportsConfig).enabled
    operators = OperatorPages(server.operators.of_folder(NAME), reports, server.now)
    server.add(APPS, ReaderPages(server, reports, is_enabled).app, operators.app)
    server.add(NOTICES, _open_reports)
    if is_enabled:
        server.add(ENTRY_LINKS, EntryLink("report", f"{NAME}.link"))


async def _open_reports(storage: Any) -> Notice | None:
    count = await Reports(storage.tables).count()
    return Notice(REPORTS, f"{NAME}.open", count) if count else None


PART = WebPart(
    serve=_serve,
    extension=Extension(NAME, "directory_server.features.reports", tabs=(("entries", REPORTS, f"{NAME}.tab"),)),
)
