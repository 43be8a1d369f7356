"""The Reports on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from ..domain.entries import is_storable
from ..domain.errors import NotFound, TooManyReports
from ..domain.keys import new_id
from ..domain.reports import MAX_CLOSED, MAX_OPEN, MAX_OPEN_OF_ENTRY, Report
from ._connection import Cursor
from ._database import Database

# Writers wait for each other, so that together they do not exceed a limit. Readers do not wait.
_LOCK = "LOCK TABLE report IN SHARE ROW EXCLUSIVE MODE"

_COUNT = "SELECT count(*), count(*) FILTER (WHERE mcp_id = $1) FROM report WHERE closed_at IS NULL"

_ADD = """
    INSERT INTO report (id, mcp_id, server_name, version, reason, text, reported_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
"""

_LIST = """
    SELECT mcp_id, server_name, version, reason, text, reported_at, id, closed_at FROM report
    WHERE (closed_at IS NOT NULL) = $1 ORDER BY reported_at DESC, ordinal DESC LIMIT $2
"""

_CLOSE = "UPDATE report SET closed_at = coalesce(closed_at, $1) WHERE id = $2 RETURNING 1"

_FORGET = """
    DELETE FROM report WHERE id IN (
        SELECT id FROM report WHERE closed_at IS NOT NULL ORDER BY closed_at DESC, ordinal OFFSET $1
    )
"""


@frozen
class PostgresReports:
    """Reports in the database."""

    _database: Database

    async def add(self, report: Report) -> Report:
        added = evolve(report.checked(), id=new_id(), closed_at=None)
        row = added.id, added.mcp_id, added.server_name, added.version, added.reason, added.text, added.reported_at

        def write(cursor: Cursor) -> None:
            cursor.execute(_LOCK)
            everything, of_entry = cursor.one(_COUNT, added.mcp_id)
            if everything >= MAX_OPEN or of_entry >= MAX_OPEN_OF_ENTRY:
                raise TooManyReports
            cursor.execute(_ADD, row)

        await self._database.write(write)
        return added

    async def list(self, *, closed: bool = False, limit: int = MAX_OPEN) -> Sequence[Report]:
        return [Report(*row) for row in await self._database.read(lambda cursor: cursor.all(_LIST, closed, limit))]

    async def count(self) -> int:
        (count, _) = await self._database.read(lambda cursor: cursor.one(_COUNT, ""))
        return int(count)

    async def close(self, report_id: str, at: float) -> None:
        def write(cursor: Cursor) -> None:
            cursor.execute(_LOCK)
            if not (is_storable(report_id) and cursor.one(_CLOSE, at, report_id)):
                raise NotFound(f"No report has the id {report_id!r}.")
            cursor.execute(_FORGET, (MAX_CLOSED,))

        await self._database.write(write)
