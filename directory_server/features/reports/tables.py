"""Reports of readers about entries, in the tables of the database."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import asdict, evolve, frozen

from ...domain.entries import is_storable
from ...domain.errors import BadInput, NotFound, TooManyReports
from ...domain.keys import new_id
from ...domain.limits import NAME, WORD
from ...sanitize import clean_text
from ...tables import Rows, Tables, transaction

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


# Writers wait for each other, so that together they do not exceed a limit. Readers do not wait.
_LOCK = "LOCK TABLE report IN SHARE ROW EXCLUSIVE MODE"

_COUNT = "SELECT count(*), count(*) FILTER (WHERE mcp_id = :mcp_id) FROM report WHERE closed_at IS NULL"

_ADD = """
    INSERT INTO report (id, mcp_id, server_name, version, reason, text, reported_at)
    VALUES (:id, :mcp_id, :server_name, :version, :reason, :text, :reported_at)
"""

_LIST = """
    SELECT mcp_id, server_name, version, reason, text, reported_at, id, closed_at FROM report
    WHERE (closed_at IS NOT NULL) = :closed ORDER BY reported_at DESC, ordinal DESC LIMIT :limit
"""

_CLOSE = "UPDATE report SET closed_at = coalesce(closed_at, :at) WHERE id = :id"

# The reports beyond the most, usually one. SQLite has no OFFSET without LIMIT.
_FORGET = """
    DELETE FROM report WHERE id IN (
        SELECT id FROM report WHERE closed_at IS NOT NULL ORDER BY closed_at DESC, ordinal LIMIT 1000 OFFSET :kept
    )
"""


@frozen
class Reports:
    """Reports of readers about entries, stored until the operator closes them. All methods raise Unavailable."""

    _tables: Tables

    @transaction
    def add(self, rows: Rows, report: Report) -> Report:
        """Store a new report, and return it as stored, with an id.

        Raises BadInput (see `Report.checked`), and TooManyReports where MAX_OPEN reports of all entries or
        MAX_OPEN_OF_ENTRY reports of this entry are open.
        """
        added = evolve(report.checked(), id=new_id(), closed_at=None)
        rows.lock(_LOCK)
        everything, of_entry = rows.one(_COUNT, mcp_id=added.mcp_id)
        if everything >= MAX_OPEN or of_entry >= MAX_OPEN_OF_ENTRY:
            raise TooManyReports
        rows.execute(_ADD, **asdict(added))
        return added

    async def list(self, *, closed: bool = False, limit: int = MAX_OPEN) -> Sequence[Report]:
        """Return at most `limit` reports that are open or, if `closed`, closed; the last reported first."""
        found = await self._tables.select(_LIST, closed=closed, limit=limit)
        return [Report(*row) for row in found]

    async def count(self) -> int:
        """Return the number of open reports."""
        (count, _) = await self._tables.one(_COUNT, mcp_id="")
        return int(count)

    @transaction
    def close(self, rows: Rows, report_id: str, at: float) -> None:
        """Close a report at the time `at`; a closed one keeps its time. Raises NotFound.

        Delete the reports that were closed first, so that at most MAX_CLOSED closed ones remain.
        """
        rows.lock(_LOCK)
        if not is_storable(report_id) or rows.execute(_CLOSE, id=report_id, at=at) == 0:
            raise NotFound(f"No report has the id {report_id!r}.")
        rows.execute(_FORGET, kept=MAX_CLOSED)
