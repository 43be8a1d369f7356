"""The Store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from attrs import Factory, evolve, field, frozen
from twisted.logger import Logger

from .. import serialization
from ..domain.changes import Change, Outcome
from ..domain.entries import Entry, is_storable
from ..domain.errors import Unavailable
from ..domain.ports.runtime import Offload
from ..domain.ports.search import Analysis
from ..domain.ports.storage import READ_BYTES, Store
from ..domain.publishing import SourceLimits, record, too_old_versions
from ..domain.scopes import Scope, change_within
from ..domain.versions import LATEST, PUBLISHED, Record, Version, VersionFilter, preferred
from ._change_log import LoggedChange, changes, current, has_changes
from ._dialects import Engine
from ._listing import ListingQuery, all_versions, listing, newest, one_version, versions_of_ids
from ._publishing import Known, Row, batches, known, publish, storing_analyses
from ._scopes import TablesWithin, version_of_alias
from ._tables import Rows, Tables, Write

T = TypeVar("T")

_ENTRY = "SELECT body FROM entry JOIN record ON record.id = visible_id WHERE mcp_id = :mcp_id"

_ENTRIES = "SELECT mcp_id, body FROM entry JOIN record ON record.id = visible_id WHERE mcp_id = ANY(:mcp_ids)"

_IDS = """
    SELECT mcp_id FROM entry WHERE visible_id IS NOT NULL AND mcp_id > :after AND mcp_id < :before
    ORDER BY mcp_id LIMIT :limit
"""

_PUBLISHED = "SELECT body FROM record WHERE name = :name AND source = :source ORDER BY record.written"

# At most one record of a name and source is its latest.
_OF_SOURCE = """
    SELECT body FROM record INNER JOIN entry ON entry.name = record.name
    WHERE source = :source AND record.name > :after AND entry.name > :after AND latest ORDER BY record.name LIMIT :limit
"""

_OTHERS = """
    SELECT record.written, source, version, latest, deleted, published_at, fingerprint
    FROM record WHERE name = :name AND source <> :source
"""

_WRITTEN = "SELECT body FROM record WHERE name = :name AND record.written = :number"

_PREFERRED = """
    SELECT entry.name, source, version FROM entry JOIN record ON record.id = preferred_id WHERE entry.name = ANY(:names)
"""

_HEAD = "SELECT seq, change.mark FROM change ORDER BY seq DESC LIMIT 1"

_OLDEST = "SELECT coalesce(min(seq), 0) FROM change"

_COUNT = "SELECT coalesce((SELECT total FROM change ORDER BY seq DESC LIMIT 1), 0)"

_COUNT_WITHIN = """
    SELECT count(DISTINCT list_entry.mcp_id) FROM list_entry INNER JOIN entry ON entry.mcp_id = list_entry.mcp_id
    WHERE list_entry.list = ANY(:scope) AND left_at IS NULL AND visible_id IS NOT NULL
"""


@frozen
class StoredEntries:
    """Entries and their change log, for all readers or for those of `scope`.

    If several sources have a name, local entries take precedence over `sources`, and those, in order, over others.
    Work on many entries goes through `offload`. Entries are stored with the result of `analysis`; if that of another
    version is stored, it is computed at the next read. `limits` bound what a source may store. `record_read` gets the
    `seq` and the mark of the changes that are read. `writer` returns what runs the transactions of a call of `publish`.
    """

    _tables: Tables
    _offload: Offload
    _analysis: Analysis
    _engine: Engine
    _sources: Sequence[str] = ()
    _limits: Mapping[str, SourceLimits] = {}
    _record_read: Callable[[int, int | None], None] = lambda seq, mark: None
    _writer: Callable[[], Write] = field(default=Factory(lambda self: lambda: self._tables.write, takes_self=True))
    _scope: Scope = None
    _visible: Tables = field(init=False)
    """The tables as readers of the scope see them."""

    _log = Logger()

    @_visible.default
    def _tables_within(self) -> Tables:
        return self._tables if self._scope is None else TablesWithin(self._tables, sorted(self._scope))

    def within(self, scope: Scope) -> Store:
        if scope is None:
            return self
        return evolve(self, scope=scope if self._scope is None else self._scope & scope)

    async def publish(self, source: str, entries: Sequence[Entry], *, new: bool = False) -> Sequence[Outcome]:
        rows = await self._offload(rows_of_entries, source, entries)
        outcomes: dict[int, Outcome] = {}
        write = self._writer()
        for batch in batches(rows, self._engine):
            selected = [entries[number] for number in batch]
            done = await self._publish([rows[number] for number in batch], selected, new, write)
            outcomes |= zip(batch, done, strict=True)
        in_order = [outcomes[number] for number in range(len(rows))]
        if line := too_old_versions(source, entries, in_order):
            self._log.warn("{line}", line=line)
        return in_order

    async def entry(self, mcp_id: str) -> Entry | None:
        row = await self._visible.one(_ENTRY, mcp_id=mcp_id)
        return serialization.restore_entry(row[0]) if row else None

    async def entries(self, mcp_ids: Sequence[str]) -> Sequence[Entry]:
        bodies = dict(await self._visible.select(_ENTRIES, mcp_ids=mcp_ids))
        return [serialization.restore_entry(bodies[mcp_id]) for mcp_id in mcp_ids if mcp_id in bodies]

    async def ids(self, after: str, before: str, limit: int) -> Sequence[str]:
        return [mcp_id for (mcp_id,) in await self._visible.select(_IDS, after=after, before=before, limit=limit)]

    async def published(self, name: str) -> Sequence[Entry]:
        bodies = await self._visible.select(_PUBLISHED, name=name, source=PUBLISHED)
        return [serialization.restore_entry(body) for (body,) in bodies]

    async def of_source(self, source: str, after: str = "", limit: int = 100) -> Sequence[Entry]:
        bodies = await self._visible.select(_OF_SOURCE, source=source, after=after, limit=limit)
        return [serialization.restore_entry(body) for (body,) in bodies]

    async def without(self, name: str, source: str) -> Entry | None:
        def read(rows: Rows) -> bytes | None:
            others = [Record(*fields) for fields in rows.all(_OTHERS, name=name, source=source)]
            chosen = preferred(others, self._sources)
            return None if chosen is None or chosen.deleted else rows.one(_WRITTEN, name=name, number=chosen.id)[0]

        body = await self._visible.read(read)
        return None if body is None else serialization.restore_entry(body)

    async def preferred(self, names: Sequence[str]) -> Mapping[str, tuple[str, str]]:
        rows = await self._visible.all(_PREFERRED, names=names)
        return {name: (source, version) for name, source, version in rows}

    async def head(self) -> int:
        row = await self._visible.one(_HEAD)
        if row is None:
            return 0
        self._record_read(*row)
        return int(row[0])

    async def has_changes(self, after: int) -> bool:
        return await self._tables.read(lambda rows: has_changes(rows, after, self._lists))

    async def log_id(self) -> str:
        return str((await self._visible.one("SELECT id FROM log"))[0])

    async def oldest(self) -> int:
        return int((await self._visible.one(_OLDEST))[0])

    async def count(self) -> int:
        if self._scope is None:
            return int((await self._tables.one(_COUNT))[0])
        return int((await self._tables.one(_COUNT_WITHIN, scope=self._lists))[0])

    async def current(self, after: str, limit: int, most: int = READ_BYTES, *, ruled: bool = False) -> Sequence[Change]:
        version = self._analysis.version
        read = partial(current, after=after, limit=limit, most=most, analysis=version, ruled=ruled)
        return await self._analysed(await self._visible.read(read))

    async def changes(self, after: int, limit: int, most: int = READ_BYTES, *, ruled: bool = False) -> Sequence[Change]:
        version = self._analysis.version
        read = partial(changes, after=after, limit=limit, most=most, analysis=version, ruled=ruled, scope=self._lists)
        logged = await self._analysed(await self._tables.read(read))
        if self._scope is None:
            return logged
        return [seen for change in logged if (seen := change_within(change, self._scope)) is not None]

    async def newest(self, limit: int, of: Callable[[Entry], T]) -> Sequence[T]:
        return await self._visible.read(lambda rows: newest(rows, limit, of))

    async def listing(
        self,
        after: tuple[str, str],
        limit: int,
        *,
        versions: str = "latest",
        updated_since: float | None = None,
        include_deleted: bool = False,
        curated: bool = False,
        every_kind: bool = False,
        most: int = READ_BYTES,
    ) -> Sequence[Version]:
        if not all(map(is_storable, (*after, versions))):
            return []
        query = ListingQuery(*after, limit, versions, updated_since or 0.0, include_deleted, curated, every_kind)
        return await self._visible.read(lambda rows: listing(rows, query, most))

    async def versions(self, name: str, after: str = "", limit: int = 1_000, most: int = READ_BYTES) -> list[Version]:
        return await self._visible.read(lambda rows: all_versions(rows, name, after, limit, most))

    async def latest(
        self, mcp_ids: Sequence[str], most: int = READ_BYTES, wanted: VersionFilter = LATEST
    ) -> Sequence[Version]:
        if not is_storable(wanted.version):
            return []
        return await self._visible.read(lambda rows: versions_of_ids(rows, mcp_ids, wanted, most))

    async def version(self, name: str, version: str, *, include_hidden: bool = False) -> Version | None:
        if not is_storable(version):
            return None
        read = partial(one_version, name=name, include_hidden=include_hidden)
        stored = await self._visible.read(partial(read, version=version))
        if stored is not None or self._lists is None:
            return stored
        pinned = await version_of_alias(self._tables, self._lists, name, version)
        return None if pinned is None else await self._visible.read(partial(read, version=pinned))

    @property
    def _lists(self) -> Sequence[str] | None:
        """The lists of the scope, None for all entries."""
        return None if self._scope is None else sorted(self._scope)

    async def _publish(
        self, rows: Sequence[Row], entries: Sequence[Entry], new: bool, write: Write
    ) -> Sequence[Outcome]:
        """Publish `entries`, in `rows`, in one transaction; return the outcomes in order."""
        # Before the transaction, which blocks other writers.
        version, engine = self._analysis.version, self._engine
        stored = [Known(is_same=False, is_analysed=False)] * len(rows)
        if not new:
            stored = await self._tables.read(lambda transaction: known(transaction, rows, version, engine))
        changed = {row.name for row, record in zip(rows, stored, strict=True) if not record.is_same}
        if not changed:
            return ["unchanged"] * len(rows)
        needed = [not (record.is_same or record.is_analysed) for record in stored]
        rows = await self._offload(self._with_analyses, rows, entries, needed)
        written = [row for row in rows if row.name in changed]
        published = await write(
            partial(
                publish,
                batch=written,
                engine=engine,
                sources=self._sources,
                limits=self._limits,
                analysis=version,
                new=new,
            )
        )
        if published.is_stale and engine.update_statistics is not None:
            # Without statistics of the planner, queries are only slower.
            with suppress(Unavailable):
                await self._tables.write(lambda rows: rows.all(str(engine.update_statistics)))
        outcomes = iter(published.outcomes)
        return [next(outcomes) if row.name in changed else "unchanged" for row in rows]

    def _with_analyses(self, rows: Sequence[Row], entries: Sequence[Entry], needed: Sequence[bool]) -> Sequence[Row]:
        return [
            evolve(row, analysed=self._analysis(entry)) if is_needed else row
            for row, entry, is_needed in zip(rows, entries, needed, strict=True)
        ]

    async def _analysed(self, logged: Sequence[LoggedChange]) -> Sequence[Change]:
        """Return the changes with their analyses. Those that are missing are stored, so that the next read has them."""
        missing = {}
        for change in logged:
            self._record_read(change.change.seq, change.mark)
            if change.row is not None and change.change.analysed is None:
                missing[change.row] = change
        if not missing:
            return [change.change for change in logged]
        analyses = await self._offload(self._analyses, missing)
        computed = [(row, change.fingerprint, analyses[row]) for row, change in missing.items()]
        statement = storing_analyses(self._engine, self._analysis.version, computed)
        # Storing the analysis only saves time later, so a failure is ignored.
        with suppress(Unavailable):
            await self._tables.write(lambda rows: rows.finish(statement))
        return [
            evolve(change.change, analysed=analyses[change.row]) if change.row in missing else change.change
            for change in logged
        ]

    def _analyses(self, logged: Mapping[int, LoggedChange]) -> dict[int, bytes]:
        """Return the analysis of each document by its row."""
        bodies = ((row, change.change.body or b"") for row, change in logged.items())
        return {row: self._analysis(serialization.restore_entry(body)) for row, body in bodies}


def rows_of_entries(source: str, entries: Sequence[Entry]) -> list[Row]:
    """Return the rows of `entries` of `source`, without analyses."""
    return [
        Row(entry.name, record(0, source, entry, serialization.fingerprint(entry)), serialization.encode_entry(entry))
        for entry in entries
    ]
