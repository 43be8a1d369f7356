"""The Store as readers of a scope see it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..domain.changes import Change, Outcome
from ..domain.entries import Entry
from ..domain.ports.storage import READ_BYTES, Store
from ..domain.scopes import Scope, change_within
from ._change_log import LoggedChange, changes, has_changes
from ._entries import StoredEntries
from ._scopes import TablesWithin

_COUNT_WITHIN = """
    SELECT count(DISTINCT list_entry.mcp_id) FROM list_entry INNER JOIN entry ON entry.mcp_id = list_entry.mcp_id
    WHERE list_entry.list = ANY(:scope) AND left_at IS NULL AND visible_id IS NOT NULL
"""


class ScopedEntries(StoredEntries):
    """Entries and their change log, for all readers or for those of a scope."""

    def within(self, scope: Scope) -> Store:
        return self if scope is None else EntriesWithin(self, scope)


class EntriesWithin(StoredEntries):
    """What readers of a scope see of `_whole`. Its tables restrict all statements that read entries."""

    def __init__(self, whole: ScopedEntries, scope: frozenset[str]) -> None:
        self._whole = whole
        self._scope = scope
        self._lists = sorted(scope)
        self._tables = TablesWithin(whole._tables, self._lists)
        self._offload = whole._offload
        self._analysis = whole._analysis
        self._sources = whole._sources

    def within(self, scope: Scope) -> Store:
        return self._whole.within(self._scope if scope is None else self._scope & scope)

    async def publish(self, source: str, entries: Sequence[Entry], *, new: bool = False) -> Sequence[Outcome]:
        return await self._whole.publish(source, entries, new=new)

    async def count(self) -> int:
        return int((await self._whole._tables.one(_COUNT_WITHIN, scope=self._lists))[0])

    async def has_changes(self, after: int) -> bool:
        return await self._whole._tables.read(lambda rows: has_changes(rows, after, self._lists))

    async def changes(self, after: int, limit: int, most: int = READ_BYTES, *, ruled: bool = False) -> Sequence[Change]:
        read = partial(changes, after=after, limit=limit, most=most, analysis=self._analysis.version, scope=self._lists)
        found = await self._analysed(await self._whole._tables.read(read))
        return [seen for change in found if (seen := change_within(change, self._scope)) is not None]

    async def _analysed(self, logged: Sequence[LoggedChange]) -> Sequence[Change]:
        return await self._whole._analysed(logged)
