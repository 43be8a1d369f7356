"""The Statistics on SQLite, in a file of their own."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ..domain.errors import Unavailable
from ..domain.ports.runtime import Offload
from ..domain.statistics import MAX_TEXTS, Count, QueryCount, QueryTotal
from ..run_sync import inline
from ._database import Database

T = TypeVar("T")

_ADD = """
    INSERT INTO count (day, kind, name, total, failed) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET total = total + excluded.total, failed = failed + excluded.failed
"""

_ADD_QUERY = f"""
    INSERT INTO query (day, text, total, failed)
    SELECT :day, :text, :total, :failed
    WHERE EXISTS (SELECT 1 FROM query WHERE day = :day AND text = :text)
    OR (SELECT count(*) FROM query WHERE day = :day) < {MAX_TEXTS}
    ON CONFLICT DO UPDATE SET total = total + excluded.total, failed = failed + excluded.failed
"""

_COUNTS = "SELECT day, kind, name, total, failed FROM count WHERE day BETWEEN ? AND ? ORDER BY day, kind, name"

_QUERIES = """
    SELECT text, sum(total) AS totals, sum(failed) AS fails FROM query WHERE day >= ?
    GROUP BY text HAVING {order} > 0 ORDER BY {order} DESC, text LIMIT ?
"""


class SqliteStatistics:
    """Numbers in the file statistics.db of `folder`, which the first use creates; `offload` runs all uses.

    The faults of this file do not count as faults of the data directory.
    """

    def __init__(self, folder: Path, offload: Offload = inline) -> None:
        self._folder = folder
        self._offload = offload
        self._opening = threading.Lock()
        self._database: Database | None = None
        self._is_closed = False

    async def add(self, counts: Sequence[Count], queries: Sequence[QueryCount] = ()) -> None:
        rows = [(each.day, each.kind, each.name, each.total, each.failed) for each in counts]
        texts = [{"day": each.day, "text": each.text, "total": each.total, "failed": each.failed} for each in queries]

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(_ADD, rows)
            connection.executemany(_ADD_QUERY, texts)

        await self._write(write)

    async def counts(self, first: int, last: int) -> Sequence[Count]:
        return await self._read(lambda connection: [Count(*row) for row in connection.execute(_COUNTS, (first, last))])

    async def queries(self, first: int, *, failed: bool = False, limit: int) -> Sequence[QueryTotal]:
        statement = _QUERIES.format(order="fails" if failed else "totals")
        return await self._read(
            lambda connection: [QueryTotal(*row) for row in connection.execute(statement, (first, limit))]
        )

    async def forget(self, counts: int, queries: int) -> None:
        def write(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM count WHERE day < ?", (counts,))
            connection.execute("DELETE FROM query WHERE day < ?", (queries,))

        await self._write(write)

    def close(self) -> None:
        """Close the file after its current uses."""
        with self._opening:
            self._is_closed = True
            if self._database is not None:
                self._database.close()

    async def _write(self, function: Callable[[sqlite3.Connection], None]) -> None:
        def write() -> None:
            self._opened().write(function)

        await self._offload(write)

    async def _read(self, function: Callable[[sqlite3.Connection], T]) -> T:
        def read() -> T:
            with self._opened().connection() as connection:
                return function(connection)

        return await self._offload(read)

    def _opened(self) -> Database:
        with self._opening:
            if self._is_closed:
                raise Unavailable("statistics.db is closed.")
            if self._database is None:
                self._database = Database(self._folder, "statistics")
            return self._database
