"""The Store on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from threading import Event
from typing import Concatenate, ParamSpec, TypeVar

from attrs import evolve, frozen
from twisted.logger import Logger

from .. import serialization
from ..domain.changes import Change, Outcome
from ..domain.entries import Entry, is_storable
from ..domain.errors import Unavailable
from ..domain.ports.runtime import Offload
from ..domain.ports.search import Analysis
from ..domain.ports.storage import READ_BYTES
from ..domain.publishing import SourceLimits, record, too_old_versions
from ..domain.versions import PUBLISHED, Version
from ._database import Database
from ._listing import all_versions, listing, one_version, versions_of_ids
from ._publishing import Publisher, Row, is_known

P = ParamSpec("P")
T = TypeVar("T")

_ENTRY = "SELECT body FROM entry JOIN record ON record.id = visible_id WHERE mcp_id = ?"

_ENTRIES = """
    SELECT body FROM json_each(?) AS requested
    JOIN entry ON mcp_id = requested.value JOIN record ON record.id = visible_id
    ORDER BY requested.key
"""

_IDS = "SELECT mcp_id FROM entry WHERE visible_id IS NOT NULL AND mcp_id > ? AND mcp_id < ? ORDER BY mcp_id LIMIT ?"

_PUBLISHED = "SELECT body FROM record WHERE name = ? AND source = ? ORDER BY id"

_PREFERRED = "SELECT source, version FROM entry JOIN record ON record.id = preferred_id WHERE entry.name = ?"

_HEAD = "SELECT coalesce(max(seq), 0) FROM change"

_LOG = "SELECT id FROM log"

_OLDEST = "SELECT coalesce(min(seq), 0) FROM change"

# The expression is that of the index record_published.
_NEWEST = """
    SELECT body FROM record JOIN entry ON entry.name = record.name AND visible_id = record.id
    ORDER BY min(coalesce(published_at, 0), created_at) DESC, record.id DESC LIMIT ?
"""

_COUNT = "SELECT coalesce((SELECT total FROM change ORDER BY seq DESC LIMIT 1), 0)"

_CURRENT = """
    SELECT seq, kind, mcp_id, record.id, record.body, analysis, analysed, pinned, indexed, package_texts.body
    FROM entry JOIN record ON record.id = visible_id JOIN change USING (seq, mcp_id)
    LEFT JOIN verification USING (mcp_id) LEFT JOIN package_texts ON package_texts.id = texts
    WHERE mcp_id > ? ORDER BY mcp_id LIMIT ?
"""

_CHANGES = """
    SELECT change.seq, kind, mcp_id, record.id, record.body, analysis, analysed, pinned, indexed, package_texts.body
    FROM change JOIN entry USING (mcp_id) LEFT JOIN record ON record.id = visible_id
    LEFT JOIN verification USING (mcp_id) LEFT JOIN package_texts ON package_texts.id = texts
    WHERE change.seq > ? ORDER BY change.seq LIMIT ?
"""

_ANALYSED = "UPDATE record SET analysis = ?, analysed = ? WHERE id = ?"


@frozen
class SqliteStore:
    """Entries and their change log in the data directory.

    If several sources have a name, local entries take precedence over `sources`, and those, in order, over others.
    Slow work goes through `offload`. Entries are stored with the result of `analysis`; a result of another version of
    the analysis is replaced at the next read. `limits` bound what a source may store. `clock` measures transactions
    in seconds; without it a batch is one transaction of any length.
    """

    _database: Database
    _offload: Offload
    _analysis: Analysis
    _sources: Sequence[str] = ()
    _limits: Mapping[str, SourceLimits] = {}
    _clock: Callable[[], float] = lambda: 0.0
    _pause: Callable[[float], object] = Event().wait

    _log = Logger()

    async def publish(self, source: str, entries: Sequence[Entry], *, new: bool = False) -> Sequence[Outcome]:
        outcomes = await self._offload(self._publish, source, entries, new)
        if line := too_old_versions(source, entries, outcomes):
            self._log.warn("{line}", line=line)
        return outcomes

    async def entry(self, mcp_id: str) -> Entry | None:
        if not is_storable(mcp_id):
            return None
        row = await self._database.read(lambda connection: connection.execute(_ENTRY, (mcp_id,)).fetchone())
        return serialization.restore_entry(row[0]) if row else None

    async def entries(self, mcp_ids: Sequence[str]) -> Sequence[Entry]:
        requested = serialization.text(list(filter(is_storable, mcp_ids)))
        rows = await self._database.read(lambda connection: connection.execute(_ENTRIES, (requested,)).fetchall())
        return [serialization.restore_entry(body) for (body,) in rows]

    async def ids(self, after: str, before: str, limit: int) -> Sequence[str]:
        # Thousands of rows, of which each is on a page of the file with few others.
        return await self._offload(self._ids, after, before, limit)

    async def head(self) -> int:
        return await self._number(_HEAD)

    async def log_id(self) -> str:
        return await self._database.read(lambda connection: str(connection.execute(_LOG).fetchone()[0]))

    async def current(self, after: str, limit: int, most: int = READ_BYTES) -> Sequence[Change]:
        return await self._offload(self._read, _CURRENT, after, limit, most)

    async def changes(self, after: int, limit: int, most: int = READ_BYTES) -> Sequence[Change]:
        return await self._offload(self._read, _CHANGES, after, limit, most)

    async def oldest(self) -> int:
        return await self._number(_OLDEST)

    async def newest(self, limit: int, of: Callable[[Entry], T]) -> Sequence[T]:
        return await self._offload(self._newest, limit, of)

    async def count(self) -> int:
        return await self._number(_COUNT)

    async def listing(
        self,
        after: tuple[str, str],
        limit: int,
        *,
        versions: str = "latest",
        updated_since: float | None = None,
        include_deleted: bool = False,
        curated: bool = False,
        most: int = READ_BYTES,
    ) -> Sequence[Version]:
        name, version = after
        if not all(map(is_storable, (name, version, versions))):
            return []
        filters = {
            "name": name,
            "version": version,
            "limit": limit,
            "since": updated_since or 0.0,
            "deleted": include_deleted,
            "curated": curated,
        }
        return await self._offload(self._listed, listing, versions, filters, most)

    async def versions(self, name: str, after: str = "", limit: int = 1_000, most: int = READ_BYTES) -> list[Version]:
        if not is_storable(name):
            return []
        return list(await self._offload(self._listed, all_versions, name, after, limit, most))

    async def latest(
        self, mcp_ids: Sequence[str], most: int = READ_BYTES, *, version: str = "latest"
    ) -> Sequence[Version]:
        if not is_storable(version):
            return []
        requested = serialization.text(list(filter(is_storable, mcp_ids)))
        return await self._offload(self._listed, versions_of_ids, requested, version, most)

    async def version(self, name: str, version: str) -> Version | None:
        if not (is_storable(name) and is_storable(version)):
            return None
        return await self._database.read(lambda connection: one_version(connection, name, version))

    async def published(self, name: str) -> Sequence[Entry]:
        if not is_storable(name):
            return []
        return await self._offload(self._published, name)

    async def preferred(self, name: str) -> tuple[str, str] | None:
        if not is_storable(name):
            return None
        row: tuple[str, str] | None = await self._database.read(
            lambda connection: connection.execute(_PREFERRED, (name,)).fetchone()
        )
        return row

    def _publish(self, source: str, entries: Sequence[Entry], new: bool) -> list[Outcome]:
        rows = [_row(source, entry) for entry in entries]
        # Before the transaction, which blocks other writers.
        with self._database.connection() as connection:
            rows = [
                row if is_known(connection, row) else self._analyse(row, entry)
                for row, entry in zip(rows, entries, strict=True)
            ]
        return Publisher(self._database, self._sources, self._limits, self._clock, self._pause).publish(rows, new=new)

    def _analyse(self, row: Row, entry: Entry) -> Row:
        return evolve(row, analysis=self._analysis.version, analysed=self._analysis(entry))

    def _read(self, query: str, after: str | int, limit: int, most: int) -> Sequence[Change]:
        rows, size = [], 0
        with self._database.connection() as connection, closing(connection.execute(query, (after, limit))) as read:
            while size < most and (row := read.fetchone()):
                rows.append(row)
                size += sum(len(column) for column in row if isinstance(column, bytes))
        current, found, outdated = self._analysis.version, [], []
        for seq, kind, mcp_id, number, body, analysis, analysed, pinned, verified, texts in rows:
            if body and (analysis != current or analysed is None):
                analysed = self._analysis(serialization.restore_entry(body))
                outdated.append((current, analysed, number))
            found.append(Change(seq, kind, mcp_id, body, analysed, bool(pinned), verified, texts))
        if outdated:
            # Storing the analysis only saves time later, so a failure is ignored.
            with suppress(Unavailable), self._database.transaction() as connection:
                connection.executemany(_ANALYSED, outdated)
        return found

    def _published(self, name: str) -> Sequence[Entry]:
        with self._database.connection() as connection:
            return [serialization.restore_entry(body) for (body,) in connection.execute(_PUBLISHED, (name, PUBLISHED))]

    def _ids(self, *bounds: str | int) -> Sequence[str]:
        with self._database.connection() as connection:
            return [mcp_id for (mcp_id,) in connection.execute(_IDS, bounds)]

    def _newest(self, limit: int, of: Callable[[Entry], T]) -> Sequence[T]:
        with self._database.connection() as connection, closing(connection.execute(_NEWEST, (limit,))) as rows:
            return [of(serialization.restore_entry(body)) for (body,) in rows]

    def _listed(
        self, read: Callable[Concatenate[sqlite3.Connection, P], Sequence[Version]], *args: P.args, **kwargs: P.kwargs
    ) -> Sequence[Version]:
        with self._database.connection() as connection:
            return read(connection, *args, **kwargs)

    async def _number(self, query: str) -> int:
        return await self._database.read(lambda connection: int(connection.execute(query).fetchone()[0]))


def _row(source: str, entry: Entry) -> Row:
    written = record(0, source, entry, serialization.fingerprint(entry))
    return Row(entry.name, written, serialization.encode_entry(entry))
