"""Operator pages for reports of readers: lists, and the form that closes one."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from ...domain.errors import DirectoryError
from ...http import Request
from ...web.operator_requests import ADMIN, OperatorRequests, parameters
from .rules import MAX_OPEN
from .tables import Reports

REPORTS = f"{ADMIN}/reports"

REPORTS_PER_PAGE = 6
"""Reports on one page. Each may have a text of a thousand characters."""


@frozen
class OperatorPages:
    """Handles the list of reports, and the form that closes one."""

    _requests: OperatorRequests
    _reports: Reports
    _now: Callable[[], float]

    async def get(self, request: Request) -> bytes:
        """Return a page of the open reports, or of the closed ones."""
        member = await self._requests.member(request)
        asked = parameters(request)
        is_closed, page = asked.get("state") == "closed", _page(asked.get("page", ""))
        first = (page - 1) * REPORTS_PER_PAGE
        found = await self._reports.list(closed=is_closed, limit=first + REPORTS_PER_PAGE + 1)
        shown = found[first : first + REPORTS_PER_PAGE]
        state = "state=closed&" if is_closed else ""
        values = {
            "reports": shown,
            "is_closed": is_closed,
            "count": await self._reports.count(),
            "next_url": f"{REPORTS}?{state}page={page + 1}" if len(found) > first + REPORTS_PER_PAGE else "",
        }
        return self._requests.page(request, member.session, "list", values)

    async def close(self, request: Request) -> bytes:
        """Close a report, and redirect to the open ones."""
        _, form = await self._requests.member_form(request)
        try:
            await self._reports.close(form.get("id", ""), self._now())
        except DirectoryError:
            return self._requests.form_error(request, REPORTS)
        return self._requests.redirect(request, REPORTS, "closed")


def _page(text: str) -> int:
    """Return the number of a page from 1; 1 for another text."""
    last = MAX_OPEN // REPORTS_PER_PAGE + 1
    return min(int(text), last) if text.isascii() and text.isdecimal() and 0 < len(text) < 6 and int(text) else 1
