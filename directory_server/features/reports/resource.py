"""Reports of readers about entries: their kind, and the declaration of their pages and of `report`."""

from __future__ import annotations

from ...domain.errors import BadInput
from ...domain.limits import NAME, WORD
from ...domain.requests import Kind, Request, checked_text
from ...request_resource import decision, request_resource
from ...texts.sanitize import clean_text

REASONS = ("malicious", "impersonation", "broken", "incorrect", "spam", "other")
"""Reasons for a report. The pages have a text for each."""

REPORT = Kind("report", 1_000, needs_text=False, per_subject=20, of_accounts=False)
"""Its subject is the id of an entry. It says nothing about the reader who sent it."""


def new_report(mcp_id: str, name: str, version: str, reason: str, text: str) -> Request:
    """Return a report. Raises BadInput for an unknown reason, and a missing or long text."""
    if reason not in REASONS:
        raise BadInput(f"reason: must be one of {', '.join(REASONS)}.", code="reason_wrong")
    checked_text("text", text, is_required=reason == "other", longest=REPORT.longest)
    details = {"name": clean_text(name, NAME), "version": clean_text(version, WORD), "reason": reason}
    return Request(REPORT.name, mcp_id, details=details)


REPORTS = request_resource(
    REPORT,
    "report",
    group="entries",
    columns=("name", "reason", "text", "created_at", "state"),
    links={"name": "/admin/entry?name={name}"},
    facts=lambda parts, request: {"mcp_id": request.subject, **request.details},
    decisions=(decision(REPORT, "close", "Close reports.", "closed", with_text=False),),
)
