"""How far work is that takes long, for the pages of all processes."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import asdict, frozen

from ..domain.work import Work
from ._tables import Tables

_LIST = "SELECT name, started_at, at, done, total, has_ended FROM work ORDER BY name"

# Writes of one process may overtake each other.
_PUT = """
    INSERT INTO work AS stored (name, started_at, at, done, total, has_ended)
    VALUES (:name, :started_at, :at, :done, :total, :has_ended)
    ON CONFLICT (name) DO UPDATE SET started_at = excluded.started_at, at = excluded.at, done = excluded.done,
        total = excluded.total, has_ended = excluded.has_ended
        WHERE NOT (excluded.started_at = stored.started_at AND stored.has_ended)
"""


@frozen
class StoredWork:
    """How far work is. Nothing depends on it. All methods raise Unavailable."""

    _tables: Tables

    async def all(self) -> Mapping[str, Work]:
        """Return all work by name, also what has ended."""
        rows = await self._tables.all(_LIST)
        return {row[0]: _work(*row) for row in rows}

    async def put(self, work: Work) -> None:
        """Store how far `work` is."""
        await self._tables.write(lambda rows: rows.execute(_PUT, **asdict(work)))


def _work(name: str, started_at: float, at: float, done: int, total: int, has_ended: bool) -> Work:
    # SQLite has no truth values.
    return Work(name, started_at, at, done, total, bool(has_ended))
