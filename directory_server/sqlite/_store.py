"""The Store on SQLite."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Event

from attrs import Factory, evolve, field, frozen
from twisted.logger import Logger

from .. import serialization
from ..domain.changes import Outcome
from ..domain.entries import Entry
from ..domain.ports.runtime import Offload
from ..domain.ports.search import Analysis
from ..domain.publishing import SourceLimits, record, too_old_versions
from ..tables import Document, StoredEntries
from ._database import Database
from ._publishing import Publisher, Row, is_known
from ._tables import SqliteTables

_ANALYSED = "UPDATE record SET analysis = ?, analysed = ? WHERE id = ?"


@frozen
class SqliteStore(StoredEntries):
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
    _tables: SqliteTables = field(
        init=False, default=Factory(lambda self: SqliteTables(self._database, reads=self._offload), takes_self=True)
    )

    _log = Logger()

    async def publish(self, source: str, entries: Sequence[Entry], *, new: bool = False) -> Sequence[Outcome]:
        outcomes = await self._offload(self._publish, source, entries, new)
        if line := too_old_versions(source, entries, outcomes):
            self._log.warn("{line}", line=line)
        return outcomes

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

    async def _store_analyses(self, documents: Sequence[Document], analyses: Mapping[int, bytes]) -> None:
        # A record that is written again has another row.
        rows = [(self._analysis.version, analyses[document.row], document.row) for document in documents]

        def write() -> None:
            with self._database.transaction() as connection:
                connection.executemany(_ANALYSED, rows)

        await self._offload(write)


def _row(source: str, entry: Entry) -> Row:
    written = record(0, source, entry, serialization.fingerprint(entry))
    return Row(entry.name, written, serialization.encode_entry(entry))
