"""Sessions: single statements, one after the other, on a connection and in a thread of their own."""

from __future__ import annotations

import os
import select
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from attrs import define, field
from twisted.application.service import Service
from twisted.internet.defer import Deferred

from ..domain.errors import Unavailable
from ..runtime.timers import Timer
from ._availability import Proof
from ._connection import Connection, Cursor, NoAnswer
from ._database import Database
from ._statements import OPTIONS, Row, Trial, always, record_failure

PATIENCE = 2.0
"""Seconds without a connection in which statements wait for it; then they fail at once."""

RETRY = 0.2, 1.0
"""Seconds to the next attempt to connect, within and after PATIENCE."""

LATE = 3.0
"""Seconds after which a statement without an answer fails, such as behind others that wait for a lock."""

CHECK = 0.5
"""Seconds between two checks of LATE and PATIENCE."""

WAITING = 1_000
"""Most statements without an answer."""

_AWAY = "The database cannot be used now: it does not respond."

_CLOSED = "The database is closed."


@define(eq=False)
class _Sent:
    """A statement without an answer, sent at a time of the reactor's clock."""

    statement: str
    parameters: Sequence[object]
    sent_at: float
    done: Deferred[Sequence[Row]] = field(factory=Deferred)


class Session(Service):
    """Statements of the reactor's thread to `database`, on one connection, which is opened again when it is lost.

    `lost` is called when the connection is lost, `silent` also, before it, when that is because the server does not
    answer. `observe` is called with the seconds from each statement to its answer. With a `trial`, statements that show
    charges fail at once while only a charge ends the fault of the database. While the reactor does not run, statements
    run in the calling thread. After `stopService` nothing connects again.
    """

    def __init__(
        self,
        database: Database,
        reactor: Any,
        *,
        lost: Callable[[], None] = lambda: None,
        silent: Callable[[], None] = lambda: None,
        observe: Callable[[float], None] = lambda seconds: None,
        trial: Trial | None = None,
    ) -> None:
        self._database = database
        self._reactor = reactor
        self._channel: str | None = None
        self._on_notified: Callable[[Sequence[str]], None] = lambda payloads: None
        self._on_lost = lost
        self._on_silent = silent
        self._observe = observe
        self._trial = trial
        self._unanswered: deque[_Sent] = deque()
        self._queue: deque[_Sent] = deque()
        """Those that the thread has not begun. Either thread changes one end."""
        self._payloads: list[str] = []
        self._away_since: float | None = None
        self._stopped = threading.Event()
        self._woken, self._waking = -1, -1
        self._checks = Timer(CHECK, self._check, reactor, at_start=False)

    @property
    def is_up(self) -> bool:
        """Whether there is a connection."""
        return self.running == 1 and self._away_since is None

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
        if shows is Proof.CHARGE and self._trial is not None and availability.needs(Proof.CHARGE):
            raise Unavailable(f"The database cannot be used now: {availability.fault}.")
        sent = self._send(statement, parameters)
        try:
            rows = await sent.done
        except psycopg.Error as error:
            unavailable = availability.raised(error, shows)
            if unavailable is None:
                raise
            raise unavailable from error
        self._observe(self._reactor.seconds() - sent.sent_at)
        availability.succeeded(shows if wrote(rows) else Proof.ANSWER)
        return rows

    def listen(self, channel: str, notified: Callable[[Sequence[str]], None]) -> None:
        """Call `notified` with the payloads of notifications on `channel`; call this before the service starts.

        After each connect it is called with an empty one, because notifications may have been lost before. All that
        came before the answer to a statement are passed before it.
        """
        self._channel, self._on_notified = channel, notified

    def startService(self) -> None:
        super().startService()
        self._woken, self._waking = os.pipe()
        for descriptor in (self._woken, self._waking):
            os.set_blocking(descriptor, False)
        self._begin_absence()
        self._checks.startService()
        threading.Thread(target=self._work, daemon=True, name=f"database {self._channel or 'statements'}").start()

    def stopService(self) -> None:
        super().stopService()
        self._stopped.set()
        self._checks.stopService()
        self._fail_all(_CLOSED)
        self._wake()

    def expect_silence(self) -> None:
        """Let statements fail at once until the connection is opened again: the server does not answer."""
        self._away_since = self._reactor.seconds() - PATIENCE

    # In the thread of the reactor.

    def _send(self, statement: str, parameters: Sequence[object]) -> _Sent:
        if self._stopped.is_set():
            raise Unavailable(_CLOSED)
        if self._is_away_long() or len(self._unanswered) >= WAITING:
            raise Unavailable(_AWAY)
        sent = _Sent(statement, parameters, self._reactor.seconds())
        self._unanswered.append(sent)
        self._queue.append(sent)
        self._wake()
        return sent

    def _wake(self) -> None:
        with suppress(OSError):
            os.write(self._waking, b"\0")

    def _begin_absence(self) -> None:
        if self._away_since is None:
            self._away_since = self._reactor.seconds()
        self._database.availability.lost(self)

    def _is_away_long(self) -> bool:
        return self._away_since is not None and self._reactor.seconds() - self._away_since >= PATIENCE

    def _connected(self) -> None:
        if not self.running:
            return
        self._away_since = None
        self._database.availability.connected(self)
        if self._channel is not None:
            self._on_notified([""])

    def _lost(self, error: Exception) -> None:
        if not self.running:
            return
        if isinstance(error, NoAnswer):
            self._on_silent()
            # Statements have waited for it already: the next ones fail at once.
            self.expect_silence()
        self._begin_absence()
        record_failure(self._database.availability, error)
        self._on_lost()

    def _answered(self, sent: _Sent, rows: Sequence[Row], error: Exception | None) -> None:
        if not sent.done.called:
            if error is None:
                sent.done.callback(rows)
            else:
                sent.done.errback(error)
        while self._unanswered and self._unanswered[0].done.called:
            self._unanswered.popleft()

    def _fail_all(self, message: str) -> None:
        unanswered, self._unanswered = self._unanswered, deque()
        for sent in unanswered:
            if not sent.done.called:
                sent.done.errback(Unavailable(message))

    def _check(self) -> None:
        if self._is_away_long():
            self._fail_all(_AWAY)
        late = self._reactor.seconds() - LATE
        for sent in [sent for sent in self._unanswered if sent.sent_at <= late]:
            # The server answers, so this is no fault of all statements.
            self._answered(sent, (), psycopg.errors.QueryCanceled(f"no answer for {LATE:g} seconds"))
        if self._trial is not None:
            self._trial.begin()

    def _close_pipe(self) -> None:
        os.close(self._woken)
        os.close(self._waking)

    # In the thread of the session.

    def _work(self) -> None:
        """Keep a connection open and run statements on it, until the service stops. No error ends the attempts."""
        while not self._stopped.is_set():
            try:
                connection = self._database.open(OPTIONS, *([f"LISTEN {self._channel}"] if self._channel else []))
            except Exception as error:
                record_failure(self._database.availability, error)
                self._stopped.wait(RETRY[self._is_away_long()])
                continue
            try:
                self._serve(connection)
            except Exception as error:
                self._tell(self._lost, error)
            finally:
                self._database.discard(connection)
        # In the thread that writes to it.
        self._tell(self._close_pipe)

    def _serve(self, connection: Connection) -> None:
        """Run the statements of the queue, and receive notifications between them, until the connection is lost."""
        connection.add_notify_handler(lambda notification: self._payloads.append(notification.payload))
        self._payloads.clear()
        self._tell(self._connected)
        events = select.poll()
        for descriptor in (connection.fileno(), self._woken):
            events.register(descriptor, select.POLLIN)
        cursor = Cursor(connection)
        while not self._stopped.is_set():
            while self._queue:
                if not self._run(cursor, self._queue.popleft()):
                    return
            events.poll()
            with suppress(BlockingIOError):
                os.read(self._woken, WAITING)
            connection.pgconn.consume_input()
            while (notification := connection.pgconn.notifies()) is not None:
                self._payloads.append(notification.extra.decode(errors="replace"))
            self._tell_notifications()

    def _run(self, cursor: Cursor, sent: _Sent) -> bool:
        """Run a statement, and pass its answer to the reactor; return False if the connection is lost."""
        if sent.done.called:
            return True
        rows: Sequence[Row] = ()
        failed: Exception | None = None
        try:
            rows = cursor.all(sent.statement, *sent.parameters)
        except Exception as error:
            failed = error
        self._tell_notifications()
        is_lost = cursor.bounds.closed
        if is_lost:
            # First, because callers that try again at once must not get this connection.
            self._tell(self._lost, failed or psycopg.OperationalError("the connection is lost"))
        self._tell(self._answered, sent, rows, failed)
        return not is_lost

    def _tell_notifications(self) -> None:
        if self._payloads:
            payloads, self._payloads = self._payloads, []
            self._tell(self._notify, payloads)

    def _notify(self, payloads: Sequence[str]) -> None:
        if self.running:
            self._on_notified(payloads)

    def _tell(self, function: Callable[..., object], *arguments: object) -> None:
        self._reactor.callFromThread(function, *arguments)
