"""Quota of a server, whose offload and clock the test controls."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from directory_server.domain.quota import Allowance
from directory_server.runtime.run_sync import inline
from directory_server.runtime.turn import ReactorTurn
from directory_server.sqlite import Database, SqliteQuota
from directory_server.sqlite._connection import Synchronous
from directory_server.sqlite._transactions import TransactionQueue

from .conftest import ManualOffload


def queue_of(database: Database, clock: Clock, offload: ManualOffload | None = None) -> TransactionQueue:
    """Return a queue of transactions that never wait for a lock; without `offload` they run at once."""
    begin = database.transaction
    return TransactionQueue("quota.db", lambda *, wait=None: begin(wait=0), clock, offload or inline)


class ServerQuota:
    """The quota of a server, and a foreign connection to its database in `folder`.

    With `grouped`, the charges of one reactor turn share a transaction.
    """

    def __init__(self, folder: Path, *, grouped: bool = False, synchronous: Synchronous = "normal") -> None:
        self.clock = Clock()
        self.clock.advance(1_000_000)
        self.offload = ManualOffload()
        self.database = Database(folder, "quota", autocheckpoint=False, synchronous=synchronous)
        self.queue = self.database.queue = queue_of(self.database, self.clock, self.offload)
        turn = ReactorTurn(self.clock) if grouped else None
        self.quota = SqliteQuota(self.database, self.clock.seconds, turn=turn)
        self.foreign = sqlite3.connect(self.database.path, isolation_level=None)
        self.statements: list[str] = []

    def charge(self, key_id: str = "k", limit: int = 20) -> Deferred[Allowance]:
        return Deferred.fromCoroutine(self.quota.charge(key_id, limit))

    def end_turn(self) -> None:
        """End the reactor turn."""
        self.clock.advance(0)

    def count_requests(self) -> int:
        """Return the number of stored requests, as another connection sees it."""
        with closing(sqlite3.connect(self.database.path)) as connection:
            return int(connection.execute("SELECT count(*) FROM spent").fetchone()[0])

    def checkpoint_number(self) -> int:
        """Return the checkpoint sequence number of the write-ahead log (sqlite.org/fileformat2.html, section 4.1)."""
        return int.from_bytes(self.database.path.with_name("quota.db-wal").read_bytes()[12:16], "big")

    def trace(self, call: Callable[[str], None] | None = None) -> None:
        """Pass each statement to `call` before it runs; by default, add it to `statements`."""
        with self.database.connection(wait=0) as connection:
            connection.set_trace_callback(call or self.statements.append)

    def close(self) -> None:
        self.queue.stop()
        self.foreign.close()
        self.database.close()
