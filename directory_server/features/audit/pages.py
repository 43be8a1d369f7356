"""Operator page of the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from attrs import frozen

from ... import serialization
from ...http import Request
from ...web.account import Sent, page
from ...web.forms import parameters
from ...web.operator_requests import ADMIN, PER_PAGE, OperatorRequests, next_url, page_of, row_number
from ...web.responses import json_response
from ...web.routes import App
from .sentences import sentence
from .tables import AuditLog

PAGE = f"{ADMIN}/audit"

EXPORTED = 10_000
"""Records of one download. The command exports all."""

DAY = 86_400.0


@frozen
class AuditPages:
    """Handles the page of the audit log, and its download as JSON Lines. `_is_on` is whether actions are recorded."""

    app = App()

    _requests: OperatorRequests
    _log: AuditLog
    _is_on: bool

    @app.get(PAGE)
    @page("list")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        """Return a page of the records with the text `q`, the `outcome` and the `day`, the newest first."""
        text, outcome, day = map(sent.text, ("q", "outcome", "day"))
        since = _day(day)
        limits = {} if since is None else {"since": since, "until": since + DAY}
        found = await self._log.newest(
            PER_PAGE + 1, before=row_number(sent.fields.get("after", "")), text=text, outcome=outcome, **limits
        )
        rows = page_of(found)
        after = str(rows[-1].number) if rows else ""
        return {
            "rows": [(record, sentence(record.event)) for record in rows],
            "text": text,
            "outcome": outcome,
            "day": day,
            "is_on": self._is_on,
            "next_url": next_url(PAGE, found, after, q=text, outcome=outcome, day=day),
        }

    @app.get(f"{PAGE}/export")
    async def export(self, request: Request) -> bytes:
        """Return records as JSON Lines, the oldest first, after the number `after`."""
        await self._requests.member(request)
        after = row_number(parameters(request).get("after", "")) or 0
        records = await self._log.read(after, EXPORTED)
        body = b"".join(serialization.encode(record.values()) + b"\n" for record in records)
        response = json_response(request, body, 200, **{"Content-Disposition": 'attachment; filename="audit.jsonl"'})
        request.setHeader("Content-Type", "application/jsonl")
        return response


def _day(text: str) -> float | None:
    """Return the beginning of a day (2027-01-31) in seconds since the epoch, UTC; None for another text."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
