"""The connections of HTTP that are open: how many there may be, how long each may take, and their end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Protocol

from twisted.application.service import Service
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger
from twisted.python.failure import Failure

from ._output import Budget
from .proxies import Proxies, network_of

CHECK = 1.0
"""Seconds between two rounds in which the time of each connection is looked at; no request sets a timer."""

LAST_CALL = 0.5
"""Seconds that requests which are on their way to a server that stops have to arrive, on connections that are open."""


class Connection(Protocol):
    """The attributes and methods of a connection that Connections uses."""

    network: str

    def check(self, now: float, /) -> None:
        """Close the connection if a time limit has passed at `now`, in seconds of the clock."""

    def finish(self) -> None:
        """Close the connection after the next response."""

    def leave(self) -> None:
        """Close the connection if it is idle."""


class Connections(Service):
    """Every connection of HTTP; streams have left it.

    There may be `most` at a time, and `per_address` from one address (of IPv6: a /64 network), unless that is one of
    `proxies`. Together with the connections of `streams` there may be `sockets`. At most `queued` bytes wait for slow
    clients; see Budget. When it stops, what they have been asked is answered, and what they are asked until LAST_CALL,
    within `grace` seconds.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        proxies: Proxies,
        *,
        most: int,
        per_address: int,
        grace: float,
        queued: int,
        sockets: int,
        streams: Callable[[], int] = int,
    ) -> None:
        self.budget = Budget(queued)
        self._clock = clock
        self._proxies = proxies
        self._most = most
        self._per_address = per_address
        self._grace = grace
        self._sockets = sockets
        self._streams = streams
        self._open: set[Connection] = set()
        self._cuts = 0
        self._by_address: Counter[str] = Counter()
        self._refused = 0
        self._closed: Deferred[None] | None = None
        self._loop = LoopingCall(self._check)
        self._loop.clock = clock

    def __len__(self) -> int:
        return len(self._open)

    def has_room_for(self, address: str) -> bool:
        """Tell whether one more from `address` may be taken in; empty for one that has none, as a UNIX socket."""
        crowded = address and self._by_address[network_of(address)] >= self._per_address
        crowded = crowded and not self._proxies.trusts(address)
        count = len(self._open)
        has_room = not crowded and count < self._most and count + self._streams() < self._sockets
        self._refused += not has_room
        return has_room

    def add(self, connection: Connection) -> None:
        """Take a connection in; one that comes too late is let go."""
        self._open.add(connection)
        self._by_address[connection.network] += 1
        if self._closed is not None:
            connection.finish()

    def remove(self, connection: Connection) -> None:
        """Forget a connection that is gone or has been handed over."""
        if connection in self._open:
            self._open.remove(connection)
            self._by_address[connection.network] -= 1
            if not self._by_address[connection.network]:
                del self._by_address[connection.network]
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
        for connection in self._open:
            connection.finish()
        self._clock.callLater(min(LAST_CALL, self._grace), self._leave)
        return self._closed.addTimeout(self._grace, self._clock).addErrback(self._late).addBoth(self._rest)

    def _check(self) -> None:
        now = self._clock.seconds()
        for connection in list(self._open):
            connection.check(now)
        if self._refused:
            self._log.warn("{count} connections were refused: there were too many", count=self._refused)
            self._refused = 0
        if self.budget.cuts > self._cuts:
            count, self._cuts = self.budget.cuts - self._cuts, self.budget.cuts
            self._log.warn("{count} slow clients were cut: more than http.queued waited for all of them", count=count)

    def _leave(self) -> None:
        for connection in list(self._open):
            connection.leave()

    def _late(self, _: Failure) -> None:
        self._log.warn("{count} connections are cut while they are answered", count=len(self._open))

    def _rest(self, _: object = None) -> None:
        if self._loop.running:
            self._loop.stop()
