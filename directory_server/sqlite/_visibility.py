"""Curation flags, and the stored visibility of names: updated and logged when records or flags change."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import get_args

from attrs import frozen

from ..domain.entries import check_name, is_storable, mcp_id_of, storable
from ..domain.ports.runtime import Offload
from ..domain.versions import LOCAL, PUBLISHED, Record
from ..domain.visibility import COUNT_DELTA, CuratedName, Flags, Mark, Visibility, transition
from ..run_sync import inline
from ._database import Database

NOW = "(julianday('now') - 2440587.5) * 86400.0"
"""Seconds since the epoch, in SQL."""

_STATE = """
    SELECT visible_id, visible.fingerprint, preferred_id, preferred.fingerprint, pinned, curated, seq
    FROM entry
    LEFT JOIN record AS visible ON visible.id = visible_id LEFT JOIN record AS preferred ON preferred.id = preferred_id
    WHERE entry.name = ?
"""

_FLAGS = "SELECT hidden, pinned, allowed FROM entry WHERE name = ?"

_RECORDS = """
    SELECT id, source, version, latest, deleted, published_at, fingerprint FROM record WHERE name = ? ORDER BY id
"""

_LOG = """
    INSERT INTO change (kind, mcp_id, total)
    VALUES (?, ?, coalesce((SELECT total FROM change ORDER BY seq DESC LIMIT 1), 0) + ?)
"""

_UPDATE = f"""
    INSERT INTO entry (mcp_id, name, visible_id, preferred_id, curated, seq, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, {NOW})
    ON CONFLICT (mcp_id) DO UPDATE SET
        visible_id = excluded.visible_id, preferred_id = excluded.preferred_id, curated = excluded.curated,
        seq = excluded.seq, updated_at = excluded.updated_at
"""

_MOVE = "UPDATE entry SET visible_id = ?, preferred_id = ? WHERE name = ?"


@contextmanager
def updating_visibility(connection: sqlite3.Connection, name: str, sources: Sequence[str]) -> Iterator[None]:
    """At the end of the `with` block, store the new visibility of `name` and log a change of the visible entry.

    The block writes records or curation flags of `name`, in a transaction of `connection`.
    """
    before, seq = _state(connection, name)
    yield
    flags = Flags(*map(bool, connection.execute(_FLAGS, (name,)).fetchone() or ()))
    records = [Record(*fields) for fields in connection.execute(_RECORDS, (name,))]
    result = transition(before, flags, records, sources)
    kind, after = result.kind, result.after
    mcp_id = mcp_id_of(name)
    if kind is not None:
        seq = connection.execute(_LOG, (kind, mcp_id, COUNT_DELTA[kind])).lastrowid or seq
    if result.is_update:
        connection.execute(_UPDATE, (mcp_id, name, after.visible_id, after.preferred_id, after.curated, seq))
    elif result.is_moved:
        connection.execute(_MOVE, (after.visible_id, after.preferred_id, name))


def log_change(connection: sqlite3.Connection, mcp_id: str) -> None:
    """Log a change of the entry `mcp_id`, if it is visible, that is not one of its records or flags."""
    if connection.execute("SELECT 1 FROM entry WHERE mcp_id = ? AND visible_id IS NOT NULL", (mcp_id,)).fetchone():
        seq = connection.execute(_LOG, ("changed", mcp_id, COUNT_DELTA["changed"])).lastrowid
        connection.execute("UPDATE entry SET seq = ? WHERE mcp_id = ?", (seq, mcp_id))


def _state(connection: sqlite3.Connection, name: str) -> tuple[Visibility, int]:
    """Return the stored visibility of `name` and the `seq` of its latest change, 0 if there is none."""
    row = connection.execute(_STATE, (name,)).fetchone()
    if row is None:
        return Visibility(), 0
    visible_id, visible, preferred_id, preferred, pinned, curated, seq = row
    return Visibility(visible_id, visible, preferred_id, preferred, bool(pinned), bool(curated)), seq


_SET = {
    mark: f"""
        INSERT INTO entry (mcp_id, name, seq, {mark}) VALUES (:mcp_id, :name, 0, 1)
        ON CONFLICT (mcp_id) DO UPDATE SET {mark} = 1 WHERE NOT {mark}
    """
    for mark in get_args(Mark)
}

_CLEAR = {mark: f"UPDATE entry SET {mark} = 0 WHERE mcp_id = :mcp_id AND {mark}" for mark in get_args(Mark)}

_DISOWN = "DELETE FROM record WHERE name = ? AND source = ?"

_NAME = """
    SELECT name,
        EXISTS (SELECT 1 FROM record WHERE record.name = entry.name AND source = :local),
        EXISTS (SELECT 1 FROM record WHERE record.name = entry.name AND source = :published),
        hidden, pinned, allowed
    FROM entry
"""

_SOURCES = {"local": LOCAL, "published": PUBLISHED}

# The inner query reads only the index `listed`: all names may be searched for the text.
_CURATED = f"""{_NAME}
    WHERE name IN (
        SELECT name FROM entry INDEXED BY listed
        WHERE (curated OR hidden) AND name > :after AND instr(lower(name), lower(:text)) ORDER BY name LIMIT :limit
    ) ORDER BY name
"""


@frozen
class SqliteCuration:
    """Curation flags in the data directory. `sources` is the order of precedence, as in the store.

    `offload` runs what may block.
    """

    _database: Database
    _sources: Sequence[str] = ()
    _offload: Offload = inline

    async def mark(self, name: str, mark: Mark, on: bool) -> bool:
        check_name(name)

        def write() -> bool:
            with self._database.transaction() as connection, updating_visibility(connection, name, self._sources):
                statement = (_SET if on else _CLEAR)[mark]
                return connection.execute(statement, {"mcp_id": mcp_id_of(name), "name": name}).rowcount > 0

        return await self._offload(write)

    async def disown(self, name: str) -> bool:
        check_name(name)

        def write() -> bool:
            with self._database.transaction() as connection, updating_visibility(connection, name, self._sources):
                return connection.execute(_DISOWN, (name, LOCAL)).rowcount > 0

        return await self._offload(write)

    async def curated(self, after: str = "", limit: int | None = None, text: str = "") -> Sequence[CuratedName]:
        most = -1 if limit is None else limit
        arguments = {**_SOURCES, "after": storable(after), "limit": most, "text": storable(text)}

        def read() -> Sequence[CuratedName]:
            with self._database.connection() as connection:
                return [_curated(row) for row in connection.execute(_CURATED, arguments)]

        return await self._offload(read)

    async def find(self, name: str) -> CuratedName:
        if not is_storable(name):
            return CuratedName(name)
        query, arguments = f"{_NAME} WHERE mcp_id = :mcp_id", {**_SOURCES, "mcp_id": mcp_id_of(name)}
        row = await self._database.read(lambda connection: connection.execute(query, arguments).fetchone())
        return _curated(row) if row else CuratedName(name)


def _curated(row: tuple[str, int, int, int, int, int]) -> CuratedName:
    name, *flags = row
    return CuratedName(name, *map(bool, flags))
