"""Operator page with the audit log of publisher tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ...web.account import Sent, page
from ...web.operator_requests import ADMIN, PER_PAGE, OperatorRequests, next_url, page_of, row_number
from ...web.routes import App
from .tables import PublicationLog

PUBLICATIONS = f"{ADMIN}/publications"


@frozen
class PublicationPages:
    """Handles the audit log of publisher tokens."""

    app = App()

    _requests: OperatorRequests
    _log: PublicationLog

    @app.get(PUBLICATIONS)
    @page("list")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        """Return a page of the audit log, the newest records first."""
        found = await self._log.newest(PER_PAGE + 1, row_number(sent.fields.get("after", "")))
        rows = page_of(found)
        return {"rows": rows, "next_url": next_url(PUBLICATIONS, found, str(rows[-1][0]) if rows else "")}
