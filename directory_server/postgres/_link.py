"""A link: single statements on one connection of the reactor, which is opened again when it is lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import psycopg
from twisted.application.service import Service
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from ..domain.errors import Unavailable
from ..domain.ports.runtime import Offload
from ._connection import connect
from ._database import Database
from ._pipeline import Pipeline, Row

SILENCE = 2.0
"""Seconds without a byte of an answer that is owed, after which the link counts as lost.

A stopped server, or a machine behind a broken network, ends no connection.
"""

PATIENCE = 2.0
"""Seconds without a link in which statements wait for it; then they fail at once."""

RETRY = 0.2, 1.0
"""Seconds to the next attempt to connect, within and after PATIENCE."""

CHECK = 0.5
"""Seconds between two checks of SILENCE and PATIENCE."""

WAITING = 1_000
"""Most statements that wait for a link."""

_AWAY = "The database cannot be used now: it does not respond."


def wrote_nothing(rows: Sequence[Row]) -> bool:
    """Return False: the statement that returned `rows` only reads."""
    return False


class Statements(Protocol):
    """Single statements: a Link, or a Database."""

    async def run(
        self, statement: str, *parameters: object, wrote: Callable[[Sequence[Row]], bool] = wrote_nothing
    ) -> Sequence[Row]:
        """Run a statement with parameters `$1`, `$2` … in a transaction of its own; return its rows.

        `wrote` returns whether the statement wrote something, by its rows. Raises Unavailable. If the connection is
        lost meanwhile, it is unknown whether the statement was executed.
        """


class Link(Service):
    """Statements of the reactor's thread to `database`, on one connection in pipeline mode.

    `offload` runs the functions that connect. With a `channel`, `notified` is called after a notification on it and
    after each connect, because notifications may have been lost before. `lost` is called when the link is lost,
    `observe` with the seconds from each statement to its answer. While the reactor does not run, statements run in the
    calling thread. After `stopService` nothing connects again.
    """

    _log = Logger()

    def __init__(
        self,
        database: Database,
        reactor: Any,
        offload: Offload,
        *,
        channel: str | None = None,
        notified: Callable[[], None] = lambda: None,
        lost: Callable[[], None] = lambda: None,
        observe: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        self._database = database
        self._reactor = reactor
        self._offload = offload
        self._channel = channel
        self._on_notified = notified
        self._on_lost = lost
        self._observe = observe
        self._pipeline: Pipeline | None = None
        self._waiting: deque[Deferred[Pipeline]] = deque()
        self._away_since: float | None = None
        self._connecting = False
        self._retry: IDelayedCall | None = None
        self._closed = False
        self._checks = LoopingCall(self._check)
        self._checks.clock = reactor

    @property
    def is_up(self) -> bool:
        """Whether there is a connection."""
        return self._pipeline is not None

    async def run(
        self, statement: str, *parameters: object, wrote: Callable[[Sequence[Row]], bool] = wrote_nothing
    ) -> Sequence[Row]:
        if not self._reactor.running:
            return await self._database.run(statement, *parameters)
        pipeline = self._pipeline or await self._connected()
        began = self._reactor.seconds()
        try:
            rows = await pipeline.send(statement, parameters)
        except psycopg.Error as error:
            unavailable = self._database.availability.raised(error)
            if unavailable is None:
                raise
            raise unavailable from error
        self._observe(self._reactor.seconds() - began)
        self._database.availability.succeeded(wrote=wrote(rows))
        return rows

    def startService(self) -> None:
        super().startService()
        self._connect()

    def stopService(self) -> None:
        super().stopService()
        self._closed = True
        if self._checks.running:
            self._checks.stop()
        if self._retry is not None and self._retry.active():
            self._retry.cancel()
        if self._pipeline is not None:
            pipeline, self._pipeline = self._pipeline, None
            pipeline.close(psycopg.OperationalError("the connection was closed"))
        self._fail_waiting("The database is closed.")

    async def _connected(self) -> Pipeline:
        """Return the connection as soon as there is one. Raises Unavailable."""
        if self._closed:
            raise Unavailable("The database is closed.")
        self._connect()
        if self._is_away_long() or len(self._waiting) >= WAITING:
            raise Unavailable(_AWAY)
        found: Deferred[Pipeline] = Deferred()
        self._waiting.append(found)
        return await found

    def _connect(self) -> None:
        if self._connecting or self._closed or self._pipeline is not None:
            return
        self._connecting = True
        if self._away_since is None:
            self._away_since = self._reactor.seconds()
        if not self._checks.running:
            self._checks.start(CHECK, now=False)
        Deferred.fromCoroutine(self._attempt()).addErrback(
            lambda failure: self._log.failure("The attempts to connect to the database ended", failure=failure)
        )

    async def _attempt(self) -> None:
        try:
            connection = await self._offload(self._open)
        except psycopg.Error as error:
            why = self._database.availability.raised(error)
            if why is None:
                # For example a wrong password; it has no other effect than a server that is away.
                self._database.availability.failed("it rejects the connection", str(error))
            if self._closed:
                return
            self._retry = self._reactor.callLater(RETRY[self._is_away_long()], self._try_again)
            return
        if self._closed:
            connection.close()
            return
        self._connecting = False
        self._away_since = None
        self._pipeline = Pipeline(connection, self._reactor, self._on_notified, self._lost)
        self._database.availability.succeeded(wrote=False)
        waiting, self._waiting = self._waiting, deque()
        for found in waiting:
            found.callback(self._pipeline)
        if self._channel is not None:
            self._on_notified()

    def _open(self) -> psycopg.Connection[Any]:
        connection = connect(self._database.parameters)
        if self._channel is not None:
            try:
                connection.execute(f"LISTEN {self._channel}")
            except BaseException:
                connection.close()
                raise
        return connection

    def _try_again(self) -> None:
        self._connecting = False
        self._connect()

    def _lost(self, error: psycopg.Error) -> None:
        self._pipeline = None
        self._database.availability.raised(error)
        self._on_lost()
        self._connect()

    def _check(self) -> None:
        pipeline = self._pipeline
        if pipeline is None:
            if self._is_away_long():
                self._fail_waiting(_AWAY)
        elif pipeline.is_silent(SILENCE):
            error = psycopg.OperationalError(f"no answer for {SILENCE:g} seconds")
            # Threads wait for the same server, and no time-out of libpq ends their waiting.
            self._database.interrupt()
            # Statements have waited for it already: the next ones fail at once.
            self._away_since = self._reactor.seconds() - SILENCE
            self._lost(error)
            pipeline.close(error)

    def _is_away_long(self) -> bool:
        return self._away_since is not None and self._reactor.seconds() - self._away_since >= PATIENCE

    def _fail_waiting(self, message: str) -> None:
        waiting, self._waiting = self._waiting, deque()
        for found in waiting:
            found.errback(Unavailable(message))
