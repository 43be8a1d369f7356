"""The Statistics on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from ..domain.statistics import MAX_TEXTS, Count, QueryCount, QueryTotal
from ._connection import Cursor
from ._database import Database

# Processes that add together lock the rows in the same order.
_ADD = """
    INSERT INTO statistic_count AS stored (day, kind, name, total, failed)
    SELECT * FROM unnest($1::int[], $2::text[], $3::text[], $4::bigint[], $5::bigint[]) ORDER BY 1, 2, 3
    ON CONFLICT (day, kind, name) DO UPDATE
    SET total = stored.total + excluded.total, failed = stored.failed + excluded.failed
"""

_LOCK = "SELECT pg_advisory_xact_lock(0, 7)"
"""The lock of added texts: their number is counted before one is added."""

_ADD_QUERY = f"""
    INSERT INTO statistic_query AS stored (day, text, total, failed)
    SELECT $1::int, $2::text, $3::bigint, $4::bigint
    WHERE EXISTS (SELECT 1 FROM statistic_query WHERE day = $1 AND text = $2)
    OR (SELECT count(*) FROM statistic_query WHERE day = $1) < {MAX_TEXTS}
    ON CONFLICT (day, text) DO UPDATE
    SET total = stored.total + excluded.total, failed = stored.failed + excluded.failed
"""

_COUNTS = """
    SELECT day, kind, name, total, failed FROM statistic_count WHERE day BETWEEN $1 AND $2 ORDER BY day, kind, name
"""

_QUERIES = """
    SELECT text, sum(total)::bigint, sum(failed)::bigint FROM statistic_query WHERE day >= $1
    GROUP BY text HAVING sum({order}) > 0 ORDER BY sum({order}) DESC, text LIMIT $2::int
"""


@frozen
class PostgresStatistics:
    """Numbers in the database."""

    _database: Database

    async def add(self, counts: Sequence[Count], queries: Sequence[QueryCount] = ()) -> None:
        columns = zip(*((each.day, each.kind, each.name, each.total, each.failed) for each in counts), strict=True)
        rows = tuple(map(list, columns))

        def write(cursor: Cursor) -> None:
            if queries:
                cursor.execute(_LOCK)
            if rows:
                cursor.execute(_ADD, rows)
            for each in queries:
                cursor.execute(_ADD_QUERY, (each.day, each.text, each.total, each.failed))

        await self._database.write(write)

    async def counts(self, first: int, last: int) -> Sequence[Count]:
        rows = await self._database.read(lambda cursor: cursor.all(_COUNTS, first, last))
        return [Count(*row) for row in rows]

    async def queries(self, first: int, *, failed: bool = False, limit: int) -> Sequence[QueryTotal]:
        statement = _QUERIES.format(order="failed" if failed else "total")
        rows = await self._database.read(lambda cursor: cursor.all(statement, first, limit))
        return [QueryTotal(*row) for row in rows]

    async def forget(self, counts: int, queries: int) -> None:
        def write(cursor: Cursor) -> None:
            cursor.execute("DELETE FROM statistic_count WHERE day < $1", (counts,))
            cursor.execute("DELETE FROM statistic_query WHERE day < $1", (queries,))

        await self._database.write(write)
