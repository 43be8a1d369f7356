"""The Reports on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from attrs import evolve, frozen

from ..domain.entries import is_storable
from ..domain.errors import NotFound, TooManyReports
from ..domain.keys import new_id
from ..domain.ports.runtime import Offload
from ..domain.reports import MAX_CLOSED, MAX_OPEN, MAX_OPEN_OF_ENTRY, Report
from ..run_sync import inline
from ._database import Database

_COUNT = "SELECT count(*), coalesce(sum(mcp_id = ?), 0) FROM report WHERE closed_at IS NULL"

_ADD = """
    INSERT INTO report (id, mcp_id, server_name, version, reason, text, reported_at) VALUES (?, ?, ?, ?, ?, ?, ?)
"""

_LIST = """
    SELECT mcp_id, server_name, version, reason, text, reported_at, id, closed_at FROM report
    WHERE (closed_at IS NOT NULL) = ? ORDER BY reported_at DESC, rowid DESC LIMIT ?
"""

_CLOSE = "UPDATE report SET closed_at = coalesce(closed_at, ?) WHERE id = ?"

_FORGET = """
    DELETE FROM report WHERE rowid IN (
        SELECT rowid FROM report WHERE closed_at IS NOT NULL ORDER BY closed_at DESC, rowid LIMIT -1 OFFSET ?
    )
"""


@frozen
class SqliteReports:
    """Reports in the data directory; `offload` runs writes, which may block."""

    _database: Database
    _offload: Offload = inline

    async def add(self, report: Report) -> Report:
        added = evolve(report.checked(), id=new_id(), closed_at=None)

        def write(connection: sqlite3.Connection) -> None:
            everything, of_entry = connection.execute(_COUNT, (added.mcp_id,)).fetchone()
            if everything >= MAX_OPEN or of_entry >= MAX_OPEN_OF_ENTRY:
                raise TooManyReports
            row = added.id, added.mcp_id, added.server_name, added.version, added.reason, added.text, added.reported_at
            connection.execute(_ADD, row)

        await self._offload(self._database.write, write)
        return added

    async def list(self, *, closed: bool = False, limit: int = MAX_OPEN) -> Sequence[Report]:
        rows = await self._database.read(lambda connection: connection.execute(_LIST, (closed, limit)).fetchall())
        return [Report(*row) for row in rows]

    async def count(self) -> int:
        (count, _) = await self._database.read(lambda connection: connection.execute(_COUNT, ("",)).fetchone())
        return int(count)

    async def close(self, report_id: str, at: float) -> None:
        def write(connection: sqlite3.Connection) -> None:
            if not is_storable(report_id) or connection.execute(_CLOSE, (at, report_id)).rowcount == 0:
                raise NotFound(f"No report has the id {report_id!r}.")
            connection.execute(_FORGET, (MAX_CLOSED,))

        await self._offload(self._database.write, write)
