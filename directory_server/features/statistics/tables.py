"""Numbers of requests and searches by day, in tables whose faults do not count as faults of the storage."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import asdict, frozen

from ...tables import Rows, Tables, transaction
from .rules import MAX_TEXTS, Count, Kind, QueryCount, Total

_ADD = """
    INSERT INTO statistic_count AS stored (day, kind, name, total, failed)
    SELECT day, kind, name, total, failed
    FROM input(day integer, kind text, name text, total bigint, failed bigint) WHERE true
    ON CONFLICT (day, kind, name) DO UPDATE
    SET total = stored.total + excluded.total, failed = stored.failed + excluded.failed
"""

_LOCK = "SELECT pg_advisory_xact_lock(0, 7)"
"""The lock of added texts: their number is counted before one is added."""

_ADD_QUERY = f"""
    INSERT INTO statistic_query AS stored (day, text, total, failed)
    SELECT CAST(:day AS integer), CAST(:text AS text), CAST(:total AS bigint), CAST(:failed AS bigint)
    WHERE EXISTS (SELECT 1 FROM statistic_query WHERE day = :day AND text = :text)
    OR (SELECT count(*) FROM statistic_query WHERE day = :day) < {MAX_TEXTS}
    ON CONFLICT (day, text) DO UPDATE
    SET total = stored.total + excluded.total, failed = stored.failed + excluded.failed
"""

_COUNTS = """
    SELECT day, kind, name, total, failed FROM statistic_count
    WHERE day = ANY(:days) AND kind = ANY(:kinds) ORDER BY day, kind, name
"""

_TOTALS = """
    SELECT name, CAST(sum(total) AS bigint), CAST(sum(failed) AS bigint) FROM statistic_count
    WHERE day = ANY(:days) AND kind = :kind GROUP BY name ORDER BY sum(total) DESC, name LIMIT :limit
"""

_OF_NAMES = """
    SELECT day, kind, name, total, failed FROM statistic_count
    WHERE day = ANY(:days) AND kind = :kind AND name = ANY(:names) ORDER BY day, name
"""

_QUERIES = {
    order: f"""
        SELECT text, CAST(sum(total) AS bigint), CAST(sum(failed) AS bigint) FROM statistic_query WHERE day >= :first
        GROUP BY text HAVING sum({order}) > 0 ORDER BY sum({order}) DESC, text LIMIT :limit
    """
    for order in ("total", "failed")
}

_FORGET_COUNTS = "DELETE FROM statistic_count WHERE day < :day"

_FORGET_QUERIES = "DELETE FROM statistic_query WHERE day < :day"


@frozen
class Statistics:
    """Numbers of requests and searches by day. No request waits for them, and no method blocks the reactor's thread.

    Days are in days since the epoch (UTC). Methods raise Unavailable.
    """

    _tables: Tables

    @transaction
    def add(self, rows: Rows, counts: Sequence[Count], queries: Sequence[QueryCount] = ()) -> None:
        """Add to the stored numbers. At most MAX_TEXTS texts of a day are stored; further ones are ignored."""
        # Processes that add together lock the rows in the same order.
        ordered = sorted(counts, key=lambda count: (count.day, count.kind, count.name))
        if queries:
            rows.lock(_LOCK)
        rows.many(_ADD, [asdict(count) for count in ordered])
        rows.many(_ADD_QUERY, [asdict(query) for query in queries])

    async def counts(self, first: int, last: int) -> Sequence[Count]:
        """Return the requests by route and searches by API of some days, ordered by day, kind and name."""
        days, kinds = list(range(first, last + 1)), ["requests", "searches"]
        found = await self._tables.select(_COUNTS, days=days, kinds=kinds)
        return [Count(*row) for row in found]

    async def totals(self, kind: Kind, first: int, last: int, *, limit: int) -> Sequence[Total]:
        """Return the `limit` names with the greatest numbers on the days from `first` to `last`, greatest first."""
        days = list(range(first, last + 1))
        found = await self._tables.select(_TOTALS, days=days, kind=kind, limit=limit)
        return [Total(*row) for row in found]

    async def of_names(self, kind: Kind, names: Sequence[str], first: int, last: int) -> Sequence[Count]:
        """Return the numbers of `names` on the days from `first` to `last`, ordered by day and name."""
        days = list(range(first, last + 1))
        found = await self._tables.select(_OF_NAMES, days=days, kind=kind, names=list(names))
        return [Count(*row) for row in found]

    async def queries(self, first: int, *, failed: bool = False, limit: int) -> Sequence[Total]:
        """Return the most frequent texts since the day `first`; if `failed`, by their searches without a hit."""
        statement = _QUERIES["failed" if failed else "total"]
        found = await self._tables.select(statement, first=first, limit=limit)
        return [Total(*row) for row in found]

    @transaction
    def forget(self, rows: Rows, counts: int, queries: int) -> None:
        """Delete the numbers of days before `counts`, and the texts of days before `queries`."""
        rows.execute(_FORGET_COUNTS, day=counts)
        rows.execute(_FORGET_QUERIES, day=queries)
