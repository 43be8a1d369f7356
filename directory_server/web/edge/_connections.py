"""The connections of HTTP that are open: how many there may be, how long each may take, and their end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twisted.application.service import Service
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from ._connection import Connection

CHECK = 1.0
"""Seconds between two rounds in which the time of each connection is looked at; no request sets a timer."""


class Connections(Service):
    """Every connection of HTTP; streams have left it.

    When it stops, what they have been asked is answered, within `grace` seconds.
    """

    _log = Logger()

    def __init__(self, clock: IReactorTime, grace: float) -> None:
        self._clock = clock
        self._grace = grace
        self._open: set[Connection] = set()
        self._closed: Deferred[None] | None = None
        self._loop = LoopingCall(self._check)
        self._loop.clock = clock

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: Connection) -> None:
        """Take a connection in; one that comes too late is let go."""
        self._open.add(connection)
        if self._closed is not None:
            connection.finish()

    def remove(self, connection: Connection) -> None:
        """Forget a connection that is gone or has been handed over."""
        self._open.discard(connection)
        if self._closed is not None and not self._open and not self._closed.called:
            self._closed.callback(None)

    def startService(self) -> None:
        super().startService()
        self._loop.start(CHECK, now=False).addErrback(
            lambda failure: self._log.failure("The time of connections is no longer watched", failure=failure)
        )

    def stopService(self) -> Deferred[None]:
        super().stopService()
        if not self._open:
            self._rest()
            return succeed(None)
        self._closed = Deferred()
        for connection in list(self._open):
            connection.finish()
        return self._closed.addTimeout(self._grace, self._clock).addErrback(self._late).addBoth(self._rest)

    def _check(self) -> None:
        now = self._clock.seconds()
        for connection in list(self._open):
            connection.check(now)

    def _late(self, _: Failure) -> None:
        self._log.warn("{count} connections are cut while they are answered", count=len(self._open))

    def _rest(self, _: object = None) -> None:
        if self._loop.running:
            self._loop.stop()
