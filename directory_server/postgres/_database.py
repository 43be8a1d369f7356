"""Transactions in threads: functions on a connection of the database, a few at a time."""

from __future__ import annotations

import os
import socket
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.interfaces import IReactorTime

from ..domain.errors import Unavailable
from ..domain.ports.runtime import Offload
from ..domain.ports.storage import Policy
from ..runtime.run_sync import inline
from ..runtime.threads import detached
from ._availability import CONFLICT, DEADLOCK, Availability, Proof
from ._connection import ANSWER, COMMIT, STATEMENT, Connection, Cursor, connect, parameters
from ._migrations import migrate, missing

T = TypeVar("T")

WAITING = 1_000
"""Most transactions that wait for one of the connections."""

QUEUE = 5.0
"""Seconds that a transaction waits for one of them, such as behind others that wait for a lock."""

TRIES = 3
"""Most tries of a transaction that a deadlock or a conflict ends."""

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

_WRITE = "BEGIN"


class Database:
    """A PostgreSQL database: `conninfo` is a connection string or URL of libpq. `now` dates outages.

    `clock` bounds the waiting for a connection; without it there is no bound.
    Functions run in threads of `offload`, each in a transaction of its own, `connections` of them at a time. The
    constructor does not connect. `read`, `write` and `upgrade` are for the reactor's thread, or, with an `offload` that
    runs functions in the calling thread, for commands without a running reactor. Raises Unavailable if `conninfo` is
    invalid.
    """

    policy: Policy | None = None
    """The rules that hide entries."""

    def __init__(
        self,
        conninfo: str,
        offload: Offload = inline,
        now: Callable[[], float] = lambda: 0.0,
        connections: int = 1,
        clock: IReactorTime | None = None,
    ) -> None:
        self.parameters = parameters(conninfo)
        self.availability = Availability(str(self.parameters.get("password") or ""), now)
        self._offload = offload
        self._connections = connections
        self._clock = clock
        self._active = 0
        self._waiting: deque[Deferred[None]] = deque()
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._shutters: dict[Connection, socket.socket] = {}
        self._closed = False
        self.ended_keys = 0
        """The number of transactions of this process that have ended keys."""

    @property
    def is_busy(self) -> bool:
        """Whether a transaction runs. Any thread may ask."""
        return self._active > 0

    async def read(self, function: Callable[[Cursor], T]) -> T:
        """Return the result of `function(cursor)` in a read-only transaction with a constant snapshot.

        Raises Unavailable.
        """
        return await self._in_thread(self._transact, _READ, function)

    async def write(self, function: Callable[[Cursor], T]) -> T:
        """Return the result of `function(cursor)` in a transaction, which is committed unless `function` raises.

        `function` is called again if a deadlock or a conflict with another transaction ends this one. Raises
        Unavailable. If the connection is lost during the commit, it is unknown whether the transaction is committed.
        """
        return await self._in_thread(self._transact, _WRITE, function)

    async def run(
        self, statement: str, *parameters: object, shows: Proof = Proof.ANSWER, wrote: object = None
    ) -> Sequence[Any]:
        """Run a statement with parameters `$1`, `$2` … in a transaction of its own; return its rows.

        `shows` and `wrote` are for sessions, which end faults of charges and polls. Raises Unavailable.
        """
        return await self.write(lambda cursor: cursor.all(statement, *parameters))

    async def upgrade(self) -> Sequence[str]:
        """Bring the schema to this version of the software; return the names of the steps that were run.

        Raises Unavailable, also if the software is too old for the schema.
        """
        if not await self.read(missing):
            return []

        def write(cursor: Cursor) -> Sequence[str]:
            cursor.unlimit()
            return migrate(cursor)

        names = await self.write(write)
        if names:
            # The planner knows nothing of new tables and columns. In a transaction of its own, because it may wait.
            with suppress(Unavailable):
                await self.run("ANALYZE")
        return names

    def interrupt(self) -> None:
        """Shut the sockets of all connections: the threads that wait for an answer stop waiting."""
        with self._lock:
            for shutter in self._shutters.values():
                with suppress(OSError):
                    shutter.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connections, those in use after their transactions. Later calls raise Unavailable."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            self.discard(connection)

    async def _in_thread(self, function: Callable[..., T], *args: Any) -> T:
        if self._active >= self._connections:
            if len(self._waiting) >= WAITING:
                raise Unavailable("The database cannot be used now: too many requests wait for it.")
            turn: Deferred[None] = Deferred()
            self._waiting.append(turn)
            if self._clock is not None:
                turn.addTimeout(QUEUE, self._clock)
            try:
                await turn
            except TimeoutError:
                raise Unavailable("The database cannot be used now: other requests are waiting for it.") from None
            finally:
                if turn in self._waiting:
                    self._waiting.remove(turn)
        self._active += 1
        # A caller that is cancelled does not end the thread, which keeps its connection until it is done.
        return await detached(self._offloaded(function, args))

    async def _offloaded(self, function: Callable[..., T], args: Sequence[Any]) -> T:
        try:
            return await self._offload(function, *args)
        finally:
            self._active -= 1
            while self._waiting and self._active < self._connections:
                turn = self._waiting.popleft()
                if not turn.called:
                    turn.callback(None)

    def _transact(self, begin: str, function: Callable[[Cursor], T]) -> T:
        for last in (*(False,) * (TRIES - 1), True):
            try:
                result, wrote = self._try(begin, function)
            except psycopg.Error as error:
                if error.sqlstate in (DEADLOCK, CONFLICT) and not last:
                    continue
                wrong_use = begin == _READ and isinstance(error, psycopg.errors.ReadOnlySqlTransaction)
                unavailable = None if wrong_use else self.availability.raised(error)
                if unavailable is None:
                    raise
                raise unavailable from error
            self.availability.succeeded(Proof.WRITE if wrote else Proof.ANSWER)
            return result
        raise AssertionError("unreachable")

    def _try(self, begin: str, function: Callable[[Cursor], T]) -> tuple[T, bool]:
        """Return the result of `function`, and whether the transaction wrote something; False if nothing is faulty."""
        while True:
            with self._lock:
                if self._closed:
                    raise Unavailable("The database is closed.")
                connection = self._idle.pop() if self._idle else None
            was_idle = connection is not None
            cursor = Cursor(connection or self.open())
            try:
                return self._run(cursor, begin, function)
            except psycopg.Error:
                # A connection that has ended while it was idle: the next one tries.
                if cursor.has_begun or not (was_idle and cursor.connection.closed):
                    raise

    def _run(self, cursor: Cursor, begin: str, function: Callable[[Cursor], T]) -> tuple[T, bool]:
        """Run `function` in a transaction, and return the connection of `cursor` to the idle ones."""
        connection, cursor.begin = cursor.bounds, begin
        connection.patience = STATEMENT
        try:
            result = function(cursor)
            # Only a fault makes the answer useful.
            wrote = self.availability.since is not None and cursor.has_written()
            if connection.patience is not None:
                connection.patience = COMMIT
            connection.commit()
        except BaseException:
            self._roll_back(connection)
            raise
        finally:
            # Also after an error: the transaction may be committed nevertheless.
            if cursor.ends_keys:
                with self._lock:
                    self.ended_keys += 1
            self._give_back(connection)
        return result, wrote

    def open(self, *statements: str) -> Connection:
        """Open a connection, run `statements`, and end its waiting with `interrupt`. It blocks. Raises psycopg.Error.

        `discard` closes it.
        """
        connection = connect(self.parameters, *statements)
        # A socket of our own: libpq may close its descriptor at any time, and another file may get its number.
        try:
            shutter = socket.socket(fileno=os.dup(connection.fileno()))
        except OSError as error:
            connection.close()
            raise psycopg.OperationalError(f"no descriptor for a connection: {error.strerror}") from error
        with self._lock:
            self._shutters[connection] = shutter
        return connection

    def discard(self, connection: Connection) -> None:
        """Close a connection that `open` has returned."""
        connection.close()
        with self._lock:
            shutter = self._shutters.pop(connection, None)
        if shutter is not None:
            shutter.close()

    def _roll_back(self, connection: Connection) -> None:
        connection.patience = ANSWER
        try:
            connection.rollback()
        except psycopg.Error:
            # `_give_back` drops it.
            connection.close()

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            keep = not (self._closed or connection.closed)
            if keep:
                self._idle.append(connection)
        if not keep:
            self.discard(connection)
