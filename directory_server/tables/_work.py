"""How far work is that takes long, for the pages of all processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from ..domain.work import Work
from ._tables import Tables

_NOW = "(SELECT coalesce(CAST(:now AS double precision), clock_seconds()) AS now) AS present"

_LIST = f"SELECT name, at, now - at, at - started_at, done, total, has_ended FROM work, {_NOW} ORDER BY name"

_PUT = f"""
    INSERT INTO work (name, started_at, at, done, total, has_ended)
    SELECT CAST(:name AS text), now - CAST(:seconds AS double precision), now,
        CAST(:done AS bigint), CAST(:total AS bigint), CAST(:has_ended AS boolean)
    FROM {_NOW} WHERE true
    ON CONFLICT (name) DO UPDATE SET started_at = excluded.started_at, at = excluded.at, done = excluded.done,
        total = excluded.total, has_ended = excluded.has_ended
"""


@frozen
class StoredWork:
    """How far work is. Nothing depends on it. All methods raise Unavailable.

    `now` returns seconds since the epoch. Without it, times are of the clock of the database.
    """

    _tables: Tables
    _now: Callable[[], float] | None = None

    async def all(self) -> Mapping[str, Work]:
        """Return all work by name, also what has ended."""
        rows = await self._tables.read(lambda rows: rows.all(_LIST, now=self._now and self._now()))
        return {row[0]: _work(*row) for row in rows}

    async def put(self, name: str, *, seconds: float, done: int, total: int, has_ended: bool = False) -> None:
        """Store how far the work `name` is after `seconds`."""
        values = {"seconds": seconds, "done": done, "total": total, "has_ended": has_ended}
        now = self._now and self._now()
        await self._tables.write(lambda rows: rows.execute(_PUT, name=name, now=now, **values))


def _work(name: str, at: float, age: float, seconds: float, done: int, total: int, has_ended: bool) -> Work:
    # SQLite has no truth values.
    return Work(name, at, age, seconds, done, total, bool(has_ended))
