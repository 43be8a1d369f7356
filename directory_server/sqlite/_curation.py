"""The Curation on SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from attrs import frozen

from ..domain.curation import LOCAL, CuratedName, Mark
from ..domain.entries import check_name, mcp_id_of
from ._database import Database
from ._visibility import updating_visibility

_SET = {
    mark: f"""
        INSERT INTO entry (mcp_id, name, seq, {mark}) VALUES (:mcp_id, :name, 0, 1)
        ON CONFLICT (mcp_id) DO UPDATE SET {mark} = 1 WHERE NOT {mark}
    """
    for mark in get_args(Mark)
}

_CLEAR = {mark: f"UPDATE entry SET {mark} = 0 WHERE mcp_id = :mcp_id AND {mark}" for mark in get_args(Mark)}

_DISOWN = "DELETE FROM record WHERE name = ? AND source = ?"

_CURATED = """
    SELECT name, EXISTS (SELECT 1 FROM record WHERE record.name = entry.name AND source = ?), hidden, pinned, allowed
    FROM entry WHERE curated OR hidden ORDER BY name
"""


@frozen
class SqliteCuration:
    """Curation flags in the data directory. `sources` is the order of precedence, as in the store."""

    _database: Database
    _sources: Sequence[str] = ()

    async def mark(self, name: str, mark: Mark, on: bool) -> bool:
        check_name(name)
        with self._database.transaction() as connection, updating_visibility(connection, name, self._sources):
            statement = (_SET if on else _CLEAR)[mark]
            return connection.execute(statement, {"mcp_id": mcp_id_of(name), "name": name}).rowcount > 0

    async def disown(self, name: str) -> bool:
        check_name(name)
        with self._database.transaction() as connection, updating_visibility(connection, name, self._sources):
            return connection.execute(_DISOWN, (name, LOCAL)).rowcount > 0

    async def curated(self) -> Sequence[CuratedName]:
        with self._database.connection() as connection:
            return [
                CuratedName(name, *map(bool, flags))
                for name, *flags in connection.execute(_CURATED, (LOCAL,)).fetchall()
            ]
