"""Operator page with the audit log of publisher tokens."""

from __future__ import annotations

from attrs import frozen

from ...http import Request
from ...web.operator_requests import ADMIN, PER_PAGE, OperatorRequests, next_url, page_of, parameters, row_number
from .tables import PublicationLog

PUBLICATIONS = f"{ADMIN}/publications"


@frozen
class PublicationPages:
    """Handles the audit log of publisher tokens."""

    _requests: OperatorRequests
    _log: PublicationLog

    async def get(self, request: Request) -> bytes:
        """Return a page of the audit log, the newest records first."""
        member = await self._requests.member(request)
        before = row_number(parameters(request).get("after", ""))
        found = await self._log.newest(PER_PAGE + 1, before)
        rows = page_of(found)
        values = {"rows": rows, "next_url": next_url(PUBLICATIONS, found, str(rows[-1][0]) if rows else "")}
        return self._requests.page(request, member.session, "list", values)
