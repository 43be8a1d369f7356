"""The Store on SQLite."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Event
from typing import TypeVar

from attrs import Factory, define, field, frozen

from ..domain.ports.runtime import Offload
from ..domain.ports.search import Analysis
from ..domain.publishing import SourceLimits
from ..tables import Engine, Rows, ScopedEntries, Write
from ._database import Database
from ._tables import SqliteTables

T = TypeVar("T")

ENGINE = Engine(
    new_ids="""
        WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < :count)
        SELECT (SELECT coalesce(max(id), 0) FROM record) + n FROM number
    """,
    keeps_ids=False,
    # A record that is written again has another id.
    store_analyses="""
        UPDATE record SET analysis = :version, analysed = input.body
        FROM input(record_id bigint, fingerprint bytea, body bytea) WHERE record.id = input.record_id
    """,
    known_analyses=None,
    is_stale=None,
    batch=50,
    batch_bytes=1_000_000,
)

TRANSACTIONS = 0.5
"""Seconds of transactions of a batch after which it pauses."""

PAUSE = 0.15
"""Seconds of a pause: SQLite looks every tenth of a second whether a lock has been released."""


@define
class _PausingWriter:
    """Runs transactions, and pauses between them so that other processes can write."""

    _tables: SqliteTables
    _offload: Offload
    _clock: Callable[[], float]
    _pause: Callable[[float], object]
    _seconds: float = 0.0

    async def write(self, function: Callable[[Rows], T], /) -> T:
        if self._seconds >= TRANSACTIONS:
            await self._offload(self._pause, PAUSE)
            self._seconds = 0.0
        began = self._clock()
        try:
            return await self._tables.write(function)
        finally:
            self._seconds += self._clock() - began


@frozen
class SqliteStore(ScopedEntries):
    """Entries and their change log in the data directory, see ScopedEntries.

    `clock` measures transactions in seconds; without it a call of `publish` never pauses.
    """

    _database: Database
    _offload: Offload
    _analysis: Analysis
    _sources: Sequence[str] = ()
    _limits: Mapping[str, SourceLimits] = {}
    _clock: Callable[[], float] = lambda: 0.0
    _pause: Callable[[float], object] = Event().wait
    _engine: Engine = ENGINE
    _tables: SqliteTables = field(
        init=False,
        default=Factory(lambda self: SqliteTables(self._database, self._offload, self._offload), takes_self=True),
    )

    def _writer(self) -> Write:
        return _PausingWriter(self._tables, self._offload, self._clock, self._pause).write
