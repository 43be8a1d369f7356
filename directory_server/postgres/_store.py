"""The Store on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from attrs import evolve, field, frozen
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
from ._connection import Cursor
from ._database import Database
from ._last_read import LastRead
from ._link import Statements
from ._listing import ListingQuery, all_versions, listing, one_version, versions_of_ids
from ._log import LoggedChange, changes, current, missing, newest
from ._publishing import Known, Row, batches, keeping, known, publish

T = TypeVar("T")

_ENTRY = "SELECT body FROM entry JOIN record ON record.id = visible_id WHERE mcp_id = $1"

_ENTRIES = """
    SELECT body FROM unnest($1::text[]) WITH ORDINALITY AS requested (mcp_id, position)
    JOIN entry ON entry.mcp_id = requested.mcp_id JOIN record ON record.id = visible_id
    ORDER BY position
"""

# Of documents that were replaced or deleted, and of versions of the analysis that no process uses. A process whose
# version is unknown may use any.
_PRUNE = (
    "DELETE FROM analysed WHERE NOT EXISTS (SELECT 1 FROM record WHERE record.fingerprint = analysed.fingerprint)",
    """
        DELETE FROM analysed WHERE version <> $1 AND NOT EXISTS (
            SELECT 1 FROM node WHERE node.analysis IS NULL OR node.analysis = analysed.version
        )
    """,
)

_ANALYZE = "ANALYZE record, entry, change, analysed, stored"

_IDS = """
    SELECT mcp_id FROM entry WHERE visible_id IS NOT NULL AND mcp_id > $1 AND mcp_id < $2 ORDER BY mcp_id LIMIT $3
"""

_PUBLISHED = "SELECT body FROM record WHERE name = $1 AND source = $2 ORDER BY written"

_PREFERRED = "SELECT source, version FROM entry JOIN record ON record.id = preferred_id WHERE entry.name = $1"

_HEAD = "SELECT seq, mark FROM change ORDER BY seq DESC LIMIT 1"

_LOG = "SELECT id FROM log"

_OLDEST = "SELECT coalesce(min(seq), 0) FROM change"

_COUNT = "SELECT coalesce((SELECT total FROM change ORDER BY seq DESC LIMIT 1), 0)"


@frozen
class PostgresStore:
    """Entries and their change log in the database.

    If several sources have a name, local entries take precedence over `sources`, and those, in order, over others.
    Work on many entries goes through `offload`. Results of `analysis` are stored by the fingerprint of the document
    and the version of the analysis, so two versions of the software do not overwrite each other's. `limits` bound what
    a source may store. `reads` runs short queries that requests wait for; by default in a thread. `last_read`
    gets the changes that are read.
    """

    _database: Database
    _offload: Offload
    _analysis: Analysis
    _sources: Sequence[str] = ()
    _limits: Mapping[str, SourceLimits] = {}
    _reads: Statements | None = None
    _last_read: LastRead = field(factory=LastRead)

    _log = Logger()

    async def publish(self, source: str, entries: Sequence[Entry], *, new: bool = False) -> Sequence[Outcome]:
        rows = await self._offload(_rows, source, entries)
        outcomes: dict[int, Outcome] = {}
        for batch in batches(rows):
            selected = [entries[number] for number in batch]
            done = await self._publish(source, [rows[number] for number in batch], selected, new)
            outcomes |= zip(batch, done, strict=True)
        found = [outcomes[number] for number in range(len(rows))]
        if line := too_old_versions(source, entries, found):
            self._log.warn("{line}", line=line)
        return found

    async def entry(self, mcp_id: str) -> Entry | None:
        if not is_storable(mcp_id):
            return None
        rows = await (self._reads or self._database).run(_ENTRY, mcp_id)
        return serialization.restore_entry(rows[0][0]) if rows else None

    async def entries(self, mcp_ids: Sequence[str]) -> Sequence[Entry]:
        requested = _storable(mcp_ids)
        rows = await self._database.read(lambda cursor: cursor.all(_ENTRIES, requested))
        return [serialization.restore_entry(body) for (body,) in rows]

    async def published(self, name: str) -> Sequence[Entry]:
        if not is_storable(name):
            return []
        rows = await self._database.read(lambda cursor: cursor.all(_PUBLISHED, name, PUBLISHED))
        return [serialization.restore_entry(body) for (body,) in rows]

    async def preferred(self, name: str) -> tuple[str, str] | None:
        if not is_storable(name):
            return None
        rows = await (self._reads or self._database).run(_PREFERRED, name)
        return rows[0] if rows else None

    async def ids(self, after: str, before: str, limit: int) -> Sequence[str]:
        rows = await (self._reads or self._database).run(_IDS, after, before, limit)
        return [mcp_id for (mcp_id,) in rows]

    async def head(self) -> int:
        rows = await (self._reads or self._database).run(_HEAD)
        if not rows:
            return 0
        self._last_read.record(*rows[0])
        return int(rows[0][0])

    async def log_id(self) -> str:
        [(log_id,)] = await (self._reads or self._database).run(_LOG)
        return str(log_id)

    async def current(self, after: str, limit: int, most: int = READ_BYTES) -> Sequence[Change]:
        read = partial(current, after=after, limit=limit, most=most, analysis=self._analysis.version)
        return await self._analysed(await self._database.read(read))

    async def changes(self, after: int, limit: int, most: int = READ_BYTES) -> Sequence[Change]:
        read = partial(changes, after=after, limit=limit, most=most, analysis=self._analysis.version)
        return await self._analysed(await self._database.read(read))

    async def oldest(self) -> int:
        return await self._number(_OLDEST)

    async def newest(self, limit: int, of: Callable[[Entry], T]) -> Sequence[T]:
        return await self._database.read(lambda cursor: newest(cursor, limit, of))

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
        if not all(map(is_storable, (*after, versions))):
            return []
        query = ListingQuery(*after, limit, versions, updated_since or 0.0, include_deleted, curated)
        return await self._database.read(lambda cursor: listing(cursor, query, most))

    async def versions(self, name: str, after: str = "", limit: int = 1_000, most: int = READ_BYTES) -> list[Version]:
        if not is_storable(name):
            return []
        return await self._database.read(lambda cursor: all_versions(cursor, name, after, limit, most))

    async def latest(
        self, mcp_ids: Sequence[str], most: int = READ_BYTES, *, version: str = "latest"
    ) -> Sequence[Version]:
        if not is_storable(version):
            return []
        requested = _storable(mcp_ids)
        return await self._database.read(lambda cursor: versions_of_ids(cursor, requested, version, most))

    async def version(self, name: str, version: str) -> Version | None:
        if not (is_storable(name) and is_storable(version)):
            return None
        return await self._database.read(lambda cursor: one_version(cursor, name, version))

    async def prune(self) -> None:
        """Delete the analyses of documents that are no longer stored, and those that no process reads.

        Raises Unavailable.
        """
        gone, unused = _PRUNE

        def write(cursor: Cursor) -> None:
            cursor.execute(gone)
            cursor.execute(unused, (self._analysis.version,))

        await self._database.write(write)

    async def _publish(
        self, source: str, rows: Sequence[Row], entries: Sequence[Entry], new: bool
    ) -> Sequence[Outcome]:
        """Publish `entries`, in `rows`, in one transaction; return the outcomes in order."""
        # Before the transaction, which blocks other writers.
        version = self._analysis.version
        found = [Known(is_same=False, is_analysed=False)] * len(rows)
        if not new:
            found = await self._database.read(lambda cursor: known(cursor, source, rows, version))
        changed = {row.name for row, each in zip(rows, found, strict=True) if not each.is_same}
        if not changed:
            return ["unchanged"] * len(rows)
        analyse = [row.name in changed and not each.is_analysed for row, each in zip(rows, found, strict=True)]
        rows = await self._offload(self._analyse, rows, entries, analyse)
        written = [row for row in rows if row.name in changed]
        publishing = partial(
            publish, rows=written, sources=self._sources, limits=self._limits, analysis=version, new=new
        )
        published = await self._database.write(publishing)
        if published.is_stale:
            # Without statistics of the planner, queries are only slower.
            with suppress(Unavailable):
                await self._database.run(_ANALYZE)
        outcomes = iter(published.outcomes)
        return [next(outcomes) if row.name in changed else "unchanged" for row in rows]

    def _analyse(self, rows: Sequence[Row], entries: Sequence[Entry], which: Sequence[bool]) -> Sequence[Row]:
        return [
            evolve(row, analysed=self._analysis(entry)) if analyse else row
            for row, entry, analyse in zip(rows, entries, which, strict=True)
        ]

    async def _analysed(self, found: Sequence[LoggedChange]) -> Sequence[Change]:
        """Return the changes with their analyses. Those that are missing are stored, so that the next read has them."""
        for each in found:
            self._last_read.record(each.seq, each.mark)
        analyses: dict[bytes, bytes] = {}
        if documents := missing(found):
            analyses = await self._offload(self._analyses, documents)
            # Storing the analysis only saves time later, so a failure is ignored.
            with suppress(Unavailable):
                version = self._analysis.version
                await self._database.write(lambda cursor: cursor.finish(keeping(version, analyses)))
        return [each.change(analyses) for each in found]

    def _analyses(self, documents: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
        return {
            fingerprint: self._analysis(serialization.restore_entry(body)) for fingerprint, body in documents.items()
        }

    async def _number(self, query: str) -> int:
        [(number,)] = await (self._reads or self._database).run(query)
        return int(number)


def _rows(source: str, entries: Sequence[Entry]) -> list[Row]:
    return [
        Row(
            entry.name,
            record(0, source, entry, serialization.fingerprint(entry)),
            serialization.encode_entry(entry),
        )
        for entry in entries
    ]


def _storable(mcp_ids: Sequence[str]) -> list[str]:
    return [each for each in mcp_ids if is_storable(each)]
