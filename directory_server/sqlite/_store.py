"""The Store on SQLite, and the Bus that polls its data version for commits of other processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Event
from typing import TypeVar

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ..domain.errors import Unavailable
from ..domain.ports.runtime import Offload
from ..domain.ports.search import Analysis
from ..domain.publishing import SourceLimits
from ..runtime.timers import PollingBus
from ..tables import Engine, Rows, StoredEntries, Write
from ._connection import is_busy
from ._database import Database, data_version
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
    update_statistics=None,
    batch=50,
    batch_bytes=1_000_000,
)

TRANSACTIONS = 0.5
"""Seconds of transactions of a batch after which it pauses."""

PAUSE = 0.15
"""Seconds of a pause: SQLite looks every tenth of a second whether a lock has been released."""


def sqlite_store(
    database: Database,
    offload: Offload,
    analysis: Analysis,
    sources: Sequence[str] = (),
    limits: Mapping[str, SourceLimits] = {},
    clock: Callable[[], float] = lambda: 0.0,
    pause: Callable[[float], object] | None = None,
) -> StoredEntries:
    """Return the entries and their change log in the data directory.

    `clock` measures transactions in seconds; without it a call of `publish` never pauses.
    """
    tables = SqliteTables(database, offload, offload)

    def writer() -> Write:
        """Return what runs transactions, and pauses between them so that other processes can write."""
        seconds = 0.0

        async def write(function: Callable[[Rows], T], /) -> T:
            nonlocal seconds
            if seconds >= TRANSACTIONS:
                await offload(pause or Event().wait, PAUSE)
                seconds = 0.0
            began = clock()
            try:
                return await tables.write(function)
            finally:
                seconds += clock() - began

        return write

    return StoredEntries(tables, offload, analysis, ENGINE, sources, limits, writer=writer)


class DataVersionBus(PollingBus):
    """Wakes the listeners after writes of other connections to `database`, polled every `interval` seconds.

    It also wakes them once at the start, for earlier writes.
    """

    _log = Logger()

    def __init__(self, database: Database, clock: IReactorTime, interval: float = 0.25) -> None:
        super().__init__(self._poll, clock, interval)
        self._database = database
        self._version: int | None = None
        self._failing = False

    def _poll(self) -> None:
        try:
            # A poll must not wait for a lock; the next one sees the same version.
            with self._database.connection(wait=0) as connection:
                version = data_version(connection)
        except Unavailable as error:
            if is_busy(error):
                return
            if not self._failing:
                # The database logs the cause.
                self._log.warn("Changes of other processes cannot be seen until the database answers again")
            self._failing = True
            return
        self._failing = False
        if version != self._version:
            self._version = version
            self.announce()
