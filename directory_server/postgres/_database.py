"""Transactions in threads: functions on a connection of the database, at most three at a time."""

from __future__ import annotations

import os
import socket
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from ..domain.errors import Unavailable
from ..domain.ports.runtime import Offload
from ..run_sync import inline
from ._availability import CONFLICT, DEADLOCK, Availability
from ._connection import Cursor, connect, parameters
from ._migrations import is_current, known_steps, migrate

T = TypeVar("T")

CONNECTIONS = 3
"""Most transactions at a time, each on a connection of its own."""

WAITING = 1_000
"""Most transactions that wait for one of the connections."""

TRIES = 3
"""Most tries of a transaction that a deadlock or a conflict ends."""

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

_WRITE = "BEGIN"

_HAS_WRITTEN = "SELECT pg_current_xact_id_if_assigned() IS NOT NULL"

UNLIMITED = "SET LOCAL statement_timeout = 0"
"""Lets the statements of a transaction take any time."""


class Database:
    """A PostgreSQL database: `conninfo` is a connection string or URL of libpq. `now` dates outages.

    Functions run in threads of `offload`, each in a transaction of its own. The constructor does not connect. `read`,
    `write` and `upgrade` are for the reactor's thread, or, with an `offload` that runs functions in the calling thread,
    for commands without a running reactor. Raises Unavailable if `conninfo` is invalid.
    """

    def __init__(self, conninfo: str, offload: Offload = inline, now: Callable[[], float] | None = None) -> None:
        self.parameters = parameters(conninfo)
        self.availability = Availability(str(self.parameters.get("password") or ""), now)
        self._offload = offload
        self._active = 0
        self._waiting: deque[Deferred[None]] = deque()
        self._lock = threading.Lock()
        self._idle: list[psycopg.Connection[Any]] = []
        self._shutters: dict[psycopg.Connection[Any], socket.socket] = {}
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

    async def run(self, statement: str, *parameters: object, wrote: object = None) -> Sequence[Any]:
        """Run a statement with parameters `$1`, `$2` … in a transaction of its own; return its rows.

        `wrote` is not used: the transaction knows whether it wrote. Raises Unavailable.
        """
        return await self.write(lambda cursor: cursor.all(statement, *parameters))

    async def upgrade(self) -> Sequence[int]:
        """Bring the schema to this version of the software; return the numbers of the migrations that were run.

        Raises Unavailable, also if the software is too old for the schema.
        """
        steps = known_steps()
        if await self.read(lambda cursor: is_current(cursor, steps)):
            return []

        def write(cursor: Cursor) -> Sequence[int]:
            cursor.execute(UNLIMITED)
            return migrate(cursor, steps)

        numbers = await self.write(write)
        if numbers:
            # The planner knows nothing of new tables and columns. In a transaction of its own, because it may wait.
            with suppress(Unavailable):
                await self.run("ANALYZE")
        return numbers

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
            self._close(connection)

    async def _in_thread(self, function: Callable[..., T], *args: Any) -> T:
        if self._active >= CONNECTIONS:
            if len(self._waiting) >= WAITING:
                raise Unavailable("The database cannot be used now: too many requests wait for it.")
            turn: Deferred[None] = Deferred()
            self._waiting.append(turn)
            try:
                await turn
            except BaseException:
                if turn in self._waiting:
                    self._waiting.remove(turn)
                raise
        self._active += 1
        # A caller that is cancelled does not end the thread, which keeps its connection until it is done.
        done: Deferred[T] = Deferred()
        Deferred.fromCoroutine(self._offloaded(function, args)).addBoth(self._finished, done)
        return await done

    async def _offloaded(self, function: Callable[..., T], args: Sequence[Any]) -> T:
        return await self._offload(function, *args)

    def _finished(self, result: Any, done: Deferred[Any]) -> None:
        self._active -= 1
        while self._waiting and self._active < CONNECTIONS:
            turn = self._waiting.popleft()
            if not turn.called:
                turn.callback(None)
        if isinstance(result, Failure):
            done.errback(result)
        else:
            done.callback(result)

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
            self.availability.succeeded(wrote=wrote)
            return result
        raise AssertionError("unreachable")

    def _try(self, begin: str, function: Callable[[Cursor], T]) -> tuple[T, bool]:
        """Return the result of `function`, and whether the transaction wrote something; False if nothing is faulty."""
        connection = self._begun(begin)
        try:
            with Cursor(connection) as cursor:
                result = function(cursor)
                # Only a fault makes the answer useful.
                wrote = self.availability.fault is not None and bool(cursor.one(_HAS_WRITTEN)[0])
            try:
                connection.commit()
            finally:
                # Also after an error: the transaction may be committed nevertheless.
                if cursor.ends_keys:
                    with self._lock:
                        self.ended_keys += 1
        except BaseException:
            self._roll_back(connection)
            raise
        finally:
            self._give_back(connection)
        return result, wrote

    def _begun(self, begin: str) -> psycopg.Connection[Any]:
        """Return a connection in a transaction. Connections that ended while they were idle are dropped."""
        while True:
            with self._lock:
                if self._closed:
                    raise Unavailable("The database is closed.")
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                connection, is_new = self._connected(), True
            else:
                is_new = False
            try:
                connection.execute(begin)
            except psycopg.Error:
                self._close(connection)
                if is_new:
                    raise
            else:
                return connection

    def _connected(self) -> psycopg.Connection[Any]:
        connection = connect(self.parameters)
        # A socket of our own: libpq may close its descriptor at any time, and another file may get its number.
        shutter = socket.socket(fileno=os.dup(connection.fileno()))
        with self._lock:
            self._shutters[connection] = shutter
        return connection

    def _close(self, connection: psycopg.Connection[Any]) -> None:
        connection.close()
        with self._lock:
            shutter = self._shutters.pop(connection, None)
        if shutter is not None:
            shutter.close()

    def _roll_back(self, connection: psycopg.Connection[Any]) -> None:
        try:
            connection.rollback()
        except psycopg.Error:
            # `_give_back` drops it.
            connection.close()

    def _give_back(self, connection: psycopg.Connection[Any]) -> None:
        with self._lock:
            keep = not (self._closed or connection.closed)
            if keep:
                self._idle.append(connection)
        if not keep:
            self._close(connection)
