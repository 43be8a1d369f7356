"""Reports of readers about entries, for the operator."""

from __future__ import annotations

from attrs import evolve, frozen

from ...domain.errors import BadInput
from ...domain.limits import NAME, WORD
from ...sanitize import clean_text

REASONS = ("malicious", "impersonation", "broken", "incorrect", "spam", "other")
"""Reasons for a report. The pages have a text for each."""

MAX_TEXT = 1_000
"""Characters of the text of a report."""

MAX_OPEN = 1_000
"""Reports that may be open at a time."""

MAX_OPEN_OF_ENTRY = 20
"""Reports of one entry that may be open at a time, so that reports of one entry leave room for those of others."""

MAX_CLOSED = 1_000
"""Closed reports that are stored. The oldest ones are deleted."""


@frozen
class Report:
    """A report of an entry: its reason and text, and the name and version of the entry at that time.

    `id` is empty before the report is stored. Times are seconds since the epoch. It says nothing about the reader who
    sent it.
    """

    mcp_id: str
    server_name: str
    version: str
    reason: str
    text: str
    reported_at: float
    id: str = ""
    closed_at: float | None = None

    def checked(self) -> Report:
        """Return the report with cleaned texts. Raises BadInput for an unknown reason, and a missing or long text."""
        if self.reason not in REASONS:
            raise BadInput(f"reason: must be one of {', '.join(REASONS)}.", code="reason_wrong")
        text = clean_text(self.text, MAX_TEXT + 1)
        if len(text) > MAX_TEXT:
            raise BadInput(f"text: must have at most {MAX_TEXT:,} characters.", code="text_long")
        if not text and self.reason == "other":
            raise BadInput("text: is required for another reason.", code="text_missing")
        return evolve(
            self, server_name=clean_text(self.server_name, NAME), version=clean_text(self.version, WORD), text=text
        )
