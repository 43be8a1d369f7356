"""A connection in libpq's pipeline mode, read and written by the reactor."""

from __future__ import annotations

import os
import select
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, Format
from psycopg.pq.abc import PGresult
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReadWriteDescriptor
from twisted.python.failure import Failure
from zope.interface import implementer

Row = tuple[Any, ...]

_READS = 3
"""Reads per wake-up under TLS: OpenSSL may hold bytes that the reactor's poll of the socket does not see."""

_FAILED = frozenset({ExecStatus.FATAL_ERROR, ExecStatus.BAD_RESPONSE})


class _Statement:
    """A statement that was sent. `prepared` is set until the PREPARE that was sent before it has succeeded."""

    __slots__ = ("done", "error", "prepared", "rows", "sent_at")

    def __init__(self, prepared: tuple[str, tuple[int, ...]] | None, sent_at: float) -> None:
        self.done: Deferred[Sequence[Row]] = Deferred()
        self.prepared = prepared
        self.sent_at = sent_at
        self.rows: Sequence[Row] = ()
        self.error: psycopg.Error | None = None


@implementer(IReadWriteDescriptor)
class Pipeline:
    """Statements on one connection, each a transaction of its own; only for the reactor's thread.

    `connection` must be open and in autocommit mode. `notified` is called with the payloads of notifications, `lost`
    with the error when the connection ends by itself. All statements without an answer then fail with that error.
    """

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        reactor: Any,
        notified: Callable[[Sequence[str]], None],
        lost: Callable[[psycopg.Error], None],
    ) -> None:
        self._connection = connection
        self._pgconn = connection.pgconn
        self._reactor = reactor
        self._notified = notified
        self._lost = lost
        self._sent: deque[_Statement] = deque()
        self._prepared: dict[tuple[str, tuple[int, ...]], bytes] = {}
        self._names = count()
        self._transformer = Transformer(connection)
        self._writing = False
        self._is_open = True
        # When the server last sent anything, or a statement was sent to the idle server, by the reactor's clock.
        self._heard = 0.0
        self._pgconn.nonblocking = 1
        self._pgconn.enter_pipeline_mode()
        self._reads = _READS if self._pgconn.ssl_in_use else 1
        # libpq closes its own descriptor when it likes; epoll cannot remove a closed one.
        self._fileno = os.dup(self._pgconn.socket)
        reactor.addReader(self)

    def send(self, statement: str, parameters: Sequence[object]) -> Deferred[Sequence[Row]]:
        """Send a statement with parameters `$1`, `$2` …; fire with its rows, or with a psycopg.Error.

        Raises psycopg.DataError or UnicodeError for parameters that PostgreSQL cannot hold, such as a NUL.
        """
        if not self._is_open:
            raise psycopg.OperationalError("the connection is closed")
        dump = self._transformer
        values = dump.dump_sequence(parameters, [PyFormat.AUTO] * len(parameters))
        # PostgreSQL prepares a statement for types, and small and large numbers have different ones.
        key = statement, dump.types or ()
        now = self._reactor.seconds()
        if not self._sent:
            self._heard = now
        name = self._prepared.get(key)
        sent = _Statement(key if name is None else None, now)
        # Before anything is written: an error while writing fails this statement too.
        self._sent.append(sent)
        try:
            if name is None:
                name = self._prepared[key] = b"s%d" % next(self._names)
                self._pgconn.send_prepare(name, statement.encode(), key[1])
            self._pgconn.send_query_prepared(name, values, dump.formats, Format.BINARY)
            self._pgconn.pipeline_sync()
            self._flush()
        except psycopg.Error as error:
            self._end(error)
        return sent.done

    def is_silent(self, seconds: float) -> bool:
        """Return whether an answer is owed and no byte has come for `seconds`."""
        return bool(self._sent) and self._reactor.seconds() - self._heard >= seconds and not self._has_input()

    def is_late(self, seconds: float) -> bool:
        """Return whether the oldest statement has no answer after `seconds`."""
        return bool(self._sent) and self._reactor.seconds() - self._sent[0].sent_at >= seconds and not self._has_input()

    def _has_input(self) -> bool:
        # After a long turn of the reactor an answer may have come that nothing has read yet.
        poll = select.poll()
        poll.register(self._fileno, select.POLLIN)
        return bool(poll.poll(0))

    def close(self, error: psycopg.Error) -> None:
        """Close the connection; all statements without an answer fail with `error`."""
        if not self._is_open:
            return
        self._is_open = False
        self._reactor.removeReader(self)
        self._reactor.removeWriter(self)
        os.close(self._fileno)
        self._connection.close()
        sent, self._sent = self._sent, deque()
        for statement in sent:
            statement.done.errback(Failure(error))

    def fileno(self) -> int:
        return self._fileno

    def logPrefix(self) -> str:
        return "postgres"

    def doRead(self) -> None:
        self._heard = self._reactor.seconds()
        try:
            for _ in range(self._reads):
                if self._is_open:
                    self._pgconn.consume_input()
                    self._receive()
            if self._is_open:
                self._flush()
        except psycopg.Error as error:
            self._end(error)

    def doWrite(self) -> None:
        try:
            self._flush()
        except psycopg.Error as error:
            self._end(error)

    def connectionLost(self, reason: Failure) -> None:
        # The reactor found the descriptor unusable.
        self._end(psycopg.OperationalError("the connection was lost"))

    def _flush(self) -> None:
        is_waiting = self._pgconn.flush() != 0
        if is_waiting and not self._writing:
            self._reactor.addWriter(self)
        elif self._writing and not is_waiting:
            self._reactor.removeWriter(self)
        self._writing = is_waiting

    def _receive(self) -> None:
        was_end = False
        while self._is_open and self._sent and not self._pgconn.is_busy():
            result = self._pgconn.get_result()
            if result is None:
                # One ends the results of a statement; a second one is the end of what has arrived.
                if was_end:
                    break
                was_end = True
                continue
            was_end = False
            self._received(result)
        # After the results: libpq does not look beyond a result that nobody has taken.
        payloads = []
        while self._is_open and (notification := self._pgconn.notifies()) is not None:
            payloads.append(notification.extra.decode(errors="replace"))
        if payloads:
            self._notified(payloads)

    def _received(self, result: PGresult) -> None:
        statement, status = self._sent[0], result.status
        if status == ExecStatus.TUPLES_OK:
            self._transformer.set_pgresult(result)
            try:
                statement.rows = self._transformer.load_rows(0, result.ntuples, tuple)
            except psycopg.Error as error:
                statement.error = error
        elif status == ExecStatus.COMMAND_OK:
            statement.prepared = None
        elif status in _FAILED:
            # After a failed PREPARE, its statement is only reported as aborted.
            statement.error = statement.error or error_from_result(result)
        elif status == ExecStatus.PIPELINE_SYNC:
            self._sent.popleft()
            if statement.error is None:
                statement.done.callback(statement.rows)
                return
            if statement.prepared is not None:
                self._prepared.pop(statement.prepared, None)
            statement.done.errback(Failure(statement.error))

    def _end(self, error: psycopg.Error) -> None:
        if self._is_open:
            # Callers that try again at once must not get this connection.
            self._lost(error)
            self.close(error)
