"""The Curation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from attrs import evolve, frozen

from ..domain.entries import check_name, mcp_id_of, storable
from ..domain.versions import LOCAL, PUBLISHED
from ..domain.visibility import CuratedName, Mark
from ._locking import lock_names
from ._tables import Rows, Tables, transaction
from ._visibility import resolve_names, visibility_updates

_SET = {
    mark: f"""
        INSERT INTO entry (mcp_id, name, seq, {mark}) VALUES (:mcp_id, :name, 0, :is_on)
        ON CONFLICT (mcp_id) DO UPDATE SET {mark} = excluded.{mark}
    """
    for mark in get_args(Mark)
}

_DELETE = "DELETE FROM record WHERE id = ANY(:ids)"

_NAME = """
    SELECT name,
        EXISTS (SELECT 1 FROM record WHERE record.name = entry.name AND source = :local),
        EXISTS (SELECT 1 FROM record WHERE record.name = entry.name AND source = :published),
        hidden AND rule = '', pinned, allowed, rule
    FROM entry
"""

_SOURCES = {"local": LOCAL, "published": PUBLISHED}

# The inner query reads an index only: all names may be searched for the text. With the collation C, `lower` changes
# ASCII letters only.
_CURATED = f"""{_NAME}
    WHERE name IN (
        SELECT name FROM entry
        WHERE (curated OR hidden) AND (curated OR rule = '') AND name > :after
            AND strpos(lower(name COLLATE "C"), lower(CAST(:text AS text) COLLATE "C")) > 0
        ORDER BY name LIMIT :limit
    ) ORDER BY name
"""

_ONE = f"{_NAME} WHERE mcp_id = :mcp_id"

BATCH = 100
"""Names whose visible records are chosen again in one transaction."""

_ALL = 1_000_000_000
"""A limit above any number of names."""


@frozen
class StoredCuration:
    """Curation flags of names. They apply to all sources, before and after these publish an entry.

    `sources` is the order of precedence, as in the store.
    """

    _tables: Tables
    _sources: Sequence[str] = ()

    @transaction
    def mark(self, rows: Rows, name: str, mark: Mark, on: bool) -> bool:
        """Set or clear the curation flag `mark` of `name`; return whether that changed it. Raises BadInput.

        Hidden names are not visible. Pinned names rank first among the hits of a search.
        """
        check_name(name)
        locked = lock_names(rows, [name])
        stored = locked.names[name]
        if getattr(stored.flags, mark) is on:
            return False
        changed: Any = {mark: on}
        stored.flags = evolve(stored.flags, **changed)
        setting = _SET[mark], {"mcp_id": stored.mcp_id, "name": name, "is_on": on}
        updates = visibility_updates(rows, locked, [stored], self._sources)
        rows.finish(setting, *updates, locked.notification())
        return True

    @transaction
    def disown(self, rows: Rows, name: str, source: str = LOCAL) -> bool:
        """Delete what `source` has of `name`, by default the operator's own entry; return whether there was any.

        Other sources apply again.

        Raises BadInput.
        """
        check_name(name)
        locked = lock_names(rows, [name])
        stored = locked.names[name]
        own = stored.of_source(source)
        if not own:
            return False
        for kept in own:
            del stored.records[source, kept.record.version]
        deletion = _DELETE, {"ids": [kept.row for kept in own]}
        updates = visibility_updates(rows, locked, [stored], self._sources)
        rows.finish(deletion, *updates, locked.notification())
        return True

    async def resolve(self) -> None:
        """Choose the visible records of all names again that an upgrade of the storage left unresolved."""
        while await self._tables.write(lambda rows: resolve_names(rows, BATCH, self._sources)):
            pass

    async def curated(self, after: str = "", limit: int | None = None, text: str = "") -> Sequence[CuratedName]:
        """Return names with a curation flag, an entry of the operator or a published one, in order.

        Return at most `limit` names after the name `after`, only those with `text` in them. The case of ASCII letters
        is ignored.
        """
        rows = await self._tables.select(
            _CURATED,
            after=after,
            text=text,
            limit=_ALL if limit is None else limit,
            **_SOURCES,
        )
        return [_curated(*row) for row in rows]

    async def find(self, name: str) -> CuratedName:
        """Return the curation flags of `name`, without any for an unknown name."""
        row = await self._tables.one(_ONE, mcp_id=mcp_id_of(storable(name)), **_SOURCES)
        return _curated(*row) if row else CuratedName(name)


def _curated(name: str, *values: Any) -> CuratedName:
    local, published, hidden, pinned, allowed = map(bool, values[:-1])
    return CuratedName(name, local, published, hidden, pinned, allowed, rule=values[-1])
