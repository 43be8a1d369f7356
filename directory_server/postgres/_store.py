"""The Store on PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

from attrs import Factory, evolve, field, frozen
from twisted.logger import Logger

from .. import serialization
from ..domain.changes import Outcome
from ..domain.entries import Entry
from ..domain.errors import Unavailable
from ..domain.ports.runtime import Offload
from ..domain.ports.search import Analysis
from ..domain.publishing import SourceLimits, record, too_old_versions
from ..tables import Document, StoredEntries
from ._connection import Cursor
from ._database import Database
from ._last_read import LastRead
from ._link import Statements
from ._publishing import Known, Row, batches, keeping, known, publish
from ._tables import PostgresTables

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


@frozen
class PostgresStore(StoredEntries):
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
    _tables: PostgresTables = field(
        init=False, default=Factory(lambda self: PostgresTables(self._database, self._reads), takes_self=True)
    )

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

    def _record_read(self, seq: int, mark: int | None) -> None:
        if mark is not None:
            self._last_read.record(seq, mark)

    async def _store_analyses(self, documents: Sequence[Document], analyses: Mapping[int, bytes]) -> None:
        found = {document.fingerprint: analyses[document.row] for document in documents}
        await self._database.write(lambda cursor: cursor.finish(keeping(self._analysis.version, found)))


def _rows(source: str, entries: Sequence[Entry]) -> list[Row]:
    return [
        Row(
            entry.name,
            record(0, source, entry, serialization.fingerprint(entry)),
            serialization.encode_entry(entry),
        )
        for entry in entries
    ]
