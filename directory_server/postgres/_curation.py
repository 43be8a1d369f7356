"""The Curation on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from attrs import evolve, frozen

from ..domain.entries import check_name, is_storable, mcp_id_of, storable
from ..domain.versions import LOCAL, PUBLISHED
from ..domain.visibility import CuratedName, Mark
from ._connection import Cursor
from ._database import Database
from ._visibility import lock_names, visibility_updates

_SET = {
    mark: f"""
        INSERT INTO entry (mcp_id, name, seq, {mark}) VALUES ($1, $2, 0, $3)
        ON CONFLICT (mcp_id) DO UPDATE SET {mark} = excluded.{mark}
    """
    for mark in get_args(Mark)
}

_DELETE = "DELETE FROM record WHERE id = ANY($1::bigint[])"

_NAME = """
    SELECT name,
        EXISTS (SELECT 1 FROM record WHERE record.name = entry.name AND source = $1),
        EXISTS (SELECT 1 FROM record WHERE record.name = entry.name AND source = $2),
        hidden, pinned, allowed
    FROM entry
"""

# A limit of NULL is none. With the collation C, `lower` changes ASCII letters only.
_CURATED = f"""{_NAME}
    WHERE (curated OR hidden) AND name > $3
        AND strpos(lower(name COLLATE "C"), lower($5::text COLLATE "C")) > 0
    ORDER BY name LIMIT $4::int
"""


@frozen
class PostgresCuration:
    """Curation flags in the database. `sources` is the order of precedence, as in the store."""

    _database: Database
    _sources: Sequence[str] = ()

    async def mark(self, name: str, mark: Mark, on: bool) -> bool:
        check_name(name)
        return await self._database.write(lambda cursor: self._mark(cursor, name, mark, on))

    async def disown(self, name: str) -> bool:
        check_name(name)
        return await self._database.write(lambda cursor: self._disown(cursor, name))

    async def curated(self, after: str = "", limit: int | None = None, text: str = "") -> Sequence[CuratedName]:
        arguments = LOCAL, PUBLISHED, storable(after), limit, storable(text)
        rows = await self._database.read(lambda cursor: cursor.all(_CURATED, *arguments))
        return [CuratedName(*row) for row in rows]

    async def find(self, name: str) -> CuratedName:
        if not is_storable(name):
            return CuratedName(name)
        query = f"{_NAME} WHERE mcp_id = $3"
        row = await self._database.read(lambda cursor: cursor.one(query, LOCAL, PUBLISHED, mcp_id_of(name)))
        return CuratedName(*row) if row else CuratedName(name)

    def _mark(self, cursor: Cursor, name: str, mark: Mark, on: bool) -> bool:
        locked = lock_names(cursor, [name])
        stored = locked.names[name]
        if getattr(stored.flags, mark) is on:
            return False
        stored.flags = evolve(stored.flags, **{mark: on})
        setting = _SET[mark], [stored.mcp_id, name, on]
        cursor.finish(setting, *visibility_updates(locked, [stored], self._sources), locked.notification())
        return True

    def _disown(self, cursor: Cursor, name: str) -> bool:
        locked = lock_names(cursor, [name])
        stored = locked.names[name]
        own = stored.of_source(LOCAL)
        if not own:
            return False
        for each in own:
            del stored.records[LOCAL, each.record.version]
        deletion = _DELETE, [[each.row for each in own]]
        cursor.finish(deletion, *visibility_updates(locked, [stored], self._sources), locked.notification())
        return True
