"""A link: single statements on one connection of the reactor, which is opened again when it is lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import psycopg
from twisted.application.service import Service
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall
from twisted.python.failure import Failure

from ..domain.errors import Unavailable
from ..domain.ports.runtime import Offload
from ..timers import Timer
from ._availability import Proof
from ._connection import Connection, Cursor, connect
from ._database import Database
from ._pipeline import Pipeline, Row

SILENCE = 2.0
"""Seconds without a byte of an answer that is owed, after which the link counts as lost.

A stopped server, or a machine behind a broken network, ends no connection.
"""

_OPTIONS = "SET statement_timeout = '1500ms'; SET enable_seqscan = off"
"""The time-out is below SILENCE: a slow statement or a lock ends its statement, and not the link with all others.

Plans are kept, maybe from a time when a table was empty. A link's statements read a few rows, by an index.
"""

PATIENCE = 2.0
"""Seconds without a link in which statements wait for it; then they fail at once."""

RETRY = 0.2, 1.0
"""Seconds to the next attempt to connect, within and after PATIENCE."""

LATE = 3.0
"""Seconds after which a statement without an answer, behind others that wait for a lock, fails with all others."""

CHECK = 0.5
"""Seconds between two checks of SILENCE, LATE and PATIENCE."""

WAITING = 1_000
"""Most statements that wait for a link."""

_AWAY = "The database cannot be used now: it does not respond."


def always(rows: Sequence[Row]) -> bool:
    """Return True: any success of the statement that returned `rows` shows what it can."""
    return True


class Statements(Protocol):
    """Single statements: a Link, or a Database."""

    async def run(
        self,
        statement: str,
        *parameters: object,
        shows: Proof = Proof.ANSWER,
        wrote: Callable[[Sequence[Row]], bool] = always,
    ) -> Sequence[Row]:
        """Run a statement with parameters `$1`, `$2` … in a transaction of its own; return its rows.

        A success shows `shows` to the Availability if `wrote` returns True for its rows. Raises Unavailable. If the
        connection is lost meanwhile, it is unknown whether the statement was executed.
        """


class Link(Service):
    """Statements of the reactor's thread to `database`, on one connection in pipeline mode.

    `offload` runs the functions that connect. `lost` is called when the link is lost, `silent` also, before it, when
    that is because the server does not answer. `observe` is
    called with the seconds from each statement to its answer. `charge` is a statement with its parameters that charges
    a request and can be repeated: while only a charge ends the fault of the database, it is tried on connections of its
    own, and all that show charges fail at once. While the reactor does not run, statements run in the calling thread.
    After `stopService` nothing connects again.
    """

    def __init__(
        self,
        database: Database,
        reactor: Any,
        offload: Offload,
        *,
        lost: Callable[[], None] = lambda: None,
        silent: Callable[[], None] = lambda: None,
        observe: Callable[[float], None] = lambda seconds: None,
        charge: tuple[str, Sequence[object]] | None = None,
    ) -> None:
        self._database = database
        self._reactor = reactor
        self._offload = offload
        self._channel: str | None = None
        self._on_notified: Callable[[Sequence[str]], None] = lambda payloads: None
        self._on_lost = lost
        self._on_silent = silent
        self._observe = observe
        self._charge = charge
        self._pipeline: Pipeline | None = None
        self._waiting: deque[Deferred[Pipeline]] = deque()
        self._away_since: float | None = None
        self._connecting = False
        self._charging = False
        self._retry: IDelayedCall | None = None
        self._closed = False
        self._checks = Timer(CHECK, self._check, reactor, at_start=False)

    @property
    def is_up(self) -> bool:
        """Whether there is a connection."""
        return self._pipeline is not None

    async def run(
        self,
        statement: str,
        *parameters: object,
        shows: Proof = Proof.ANSWER,
        wrote: Callable[[Sequence[Row]], bool] = always,
    ) -> Sequence[Row]:
        if not self._reactor.running:
            return await self._database.run(statement, *parameters)
        availability = self._database.availability
        if shows is Proof.CHARGE and self._charge is not None and availability.needs(Proof.CHARGE):
            raise Unavailable(f"The database cannot be used now: {availability.fault}.")
        pipeline = self._pipeline or await self._connected()
        began = self._reactor.seconds()
        try:
            rows = await pipeline.send(statement, parameters)
        except psycopg.Error as error:
            unavailable = availability.raised(error, shows)
            if unavailable is None:
                raise
            raise unavailable from error
        self._observe(self._reactor.seconds() - began)
        availability.succeeded(shows if wrote(rows) else Proof.ANSWER)
        return rows

    def listen(self, channel: str, notified: Callable[[Sequence[str]], None]) -> None:
        """Call `notified` with the payloads of notifications on `channel`; call this before the link connects.

        After each connect it is called with an empty one, because notifications may have been lost before.
        """
        self._channel, self._on_notified = channel, notified

    def startService(self) -> None:
        super().startService()
        self._checks.startService()
        self._connect()

    def stopService(self) -> None:
        super().stopService()
        self._closed = True
        self._checks.stopService()
        if self._retry is not None and self._retry.active():
            self._retry.cancel()
        if self._pipeline is not None:
            pipeline, self._pipeline = self._pipeline, None
            pipeline.close(psycopg.OperationalError("the connection was closed"))
        self._fail_waiting("The database is closed.")

    def reconnect(self) -> None:
        """Open the connection again: its server does not answer, as another connection has shown."""
        if self._pipeline is not None:
            self._end_silent(self._pipeline)

    async def _connected(self) -> Pipeline:
        """Return the connection as soon as there is one. Raises Unavailable."""
        if self._closed:
            raise Unavailable("The database is closed.")
        self._connect()
        if self._is_away_long() or len(self._waiting) >= WAITING:
            raise Unavailable(_AWAY)
        connected: Deferred[Pipeline] = Deferred()
        self._waiting.append(connected)
        return await connected

    def _connect(self) -> None:
        if self._connecting or self._closed or self._pipeline is not None:
            return
        self._connecting = True
        if self._away_since is None:
            self._away_since = self._reactor.seconds()
        self._database.availability.lost(self)
        Deferred.fromCoroutine(self._attempt()).addErrback(self._failed)

    async def _attempt(self) -> None:
        connection = await self._offload(self._open)
        if self._closed:
            connection.close()
            return
        try:
            pipeline = Pipeline(connection, self._reactor, self._on_notified, self._lost)
        except BaseException:
            connection.close()
            raise
        self._connecting = False
        self._away_since = None
        self._pipeline = pipeline
        self._database.availability.connected(self)
        waiting, self._waiting = self._waiting, deque()
        for connected in waiting:
            connected.callback(pipeline)
        if self._channel is not None:
            self._on_notified([""])

    def _failed(self, failure: Failure) -> None:
        """Record why an attempt failed, and begin the next one soon. No error ends the attempts."""
        self._record(failure.value, Proof.ANSWER)
        if not self._closed:
            self._retry = self._reactor.callLater(RETRY[self._is_away_long()], self._try_again)

    def _record(self, error: BaseException | None, shows: Proof) -> None:
        availability = self._database.availability
        if not isinstance(error, psycopg.Error) or availability.raised(error, shows) is None:
            # For example a wrong password, or no descriptor; it has no other effect than a server that is away.
            availability.failed("no connection can be opened", f"{type(error).__name__}: {error}", shows)

    def _open(self) -> Connection:
        return connect(self._database.parameters, _OPTIONS, *([f"LISTEN {self._channel}"] if self._channel else []))

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
            self._on_silent()
            self._end_silent(pipeline)
        elif pipeline.is_late(LATE):
            # The server answers, so this is no fault of all statements.
            self._drop(pipeline, psycopg.errors.QueryCanceled(f"no answer for {LATE:g} seconds"))
        elif self._charge is not None and self._database.availability.needs(Proof.CHARGE) and not self._charging:
            self._charging = True
            Deferred.fromCoroutine(self._show_charge(*self._charge))

    async def _show_charge(self, statement: str, parameters: Sequence[object]) -> None:
        try:
            await self._offload(self._try_charge, statement, parameters)
        except Exception as error:
            self._record(error, Proof.CHARGE)
        finally:
            self._charging = False

    def _try_charge(self, statement: str, parameters: Sequence[object]) -> None:
        """Charge a request, because those of clients fail at once. On this link, others would wait behind it."""
        with connect(self._database.parameters, _OPTIONS) as connection:
            Cursor(connection).all(statement, *parameters)
        self._database.availability.succeeded(Proof.CHARGE)

    def _end_silent(self, pipeline: Pipeline) -> None:
        # Statements have waited for it already: the next ones fail at once.
        self._away_since = self._reactor.seconds() - SILENCE
        self._drop(pipeline, psycopg.OperationalError(f"no answer for {SILENCE:g} seconds"))

    def _drop(self, pipeline: Pipeline, error: psycopg.Error) -> None:
        self._lost(error)
        pipeline.close(error)

    def _is_away_long(self) -> bool:
        return self._away_since is not None and self._reactor.seconds() - self._away_since >= PATIENCE

    def _fail_waiting(self, message: str) -> None:
        waiting, self._waiting = self._waiting, deque()
        for connected in waiting:
            connected.errback(Unavailable(message))
