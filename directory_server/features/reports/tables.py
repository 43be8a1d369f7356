"""Reports of readers about entries, in the tables of the database."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import asdict, evolve, frozen

from ...domain.entries import is_storable
from ...domain.errors import NotFound, TooManyReports
from ...domain.keys import new_id
from ...tables import Rows, Tables
from .rules import MAX_CLOSED, MAX_OPEN, MAX_OPEN_OF_ENTRY, Report

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

    async def add(self, report: Report) -> Report:
        """Store a new report, and return it as stored, with an id.

        Raises BadInput (see `Report.checked`), and TooManyReports where MAX_OPEN reports of all entries or
        MAX_OPEN_OF_ENTRY reports of this entry are open.
        """
        added = evolve(report.checked(), id=new_id(), closed_at=None)

        def write(rows: Rows) -> None:
            rows.lock(_LOCK)
            everything, of_entry = rows.one(_COUNT, mcp_id=added.mcp_id)
            if everything >= MAX_OPEN or of_entry >= MAX_OPEN_OF_ENTRY:
                raise TooManyReports
            rows.execute(_ADD, **asdict(added))

        await self._tables.write(write)
        return added

    async def list(self, *, closed: bool = False, limit: int = MAX_OPEN) -> Sequence[Report]:
        """Return at most `limit` reports that are open or, if `closed`, closed; the last reported first."""
        found = await self._tables.read(lambda rows: rows.all(_LIST, closed=closed, limit=limit))
        return [Report(*row) for row in found]

    async def count(self) -> int:
        """Return the number of open reports."""
        (count, _) = await self._tables.one(_COUNT, mcp_id="")
        return int(count)

    async def close(self, report_id: str, at: float) -> None:
        """Close a report at the time `at`; a closed one keeps its time. Raises NotFound.

        Delete the reports that were closed first, so that at most MAX_CLOSED closed ones remain.
        """

        def write(rows: Rows) -> None:
            rows.lock(_LOCK)
            if not is_storable(report_id) or rows.execute(_CLOSE, id=report_id, at=at) == 0:
                raise NotFound(f"No report has the id {report_id!r}.")
            rows.execute(_FORGET, kept=MAX_CLOSED)

        await self._tables.write(write)
