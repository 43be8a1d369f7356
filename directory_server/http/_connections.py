"""The open HTTP connections: limits on their number, time limits, shares of long turns, and the stop of the server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from twisted.application.service import Service
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.internet.protocol import Protocol as TwistedProtocol
from twisted.logger import Logger
from twisted.python.failure import Failure

from ..runtime.timers import Timer
from ..texts.wording import counted
from ._output import Budget
from .proxies import Proxies, network_of

CHECK = 1.0
"""Seconds between two checks of all time limits. Requests set no timers."""

LATE_REQUESTS = 0.5
"""Seconds in which a stopping server still accepts requests on open connections: these may have been sent before."""


class Connection(Protocol):
    """The attributes and methods of a connection that Connections uses."""

    network: str

    def check(self, now: float, /) -> None:
        """Close the connection if a time limit has passed at `now`, in seconds of the clock."""

    def close_after_response(self) -> None:
        """Close the connection after the next response."""

    def close_if_idle(self) -> None:
        """Close the connection if it is idle."""

    def abort(self) -> None:
        """Abort the connection, which holds memory of `Connections.incoming`."""


class Connections(Service):
    """The open HTTP connections, without those that became event streams.

    `limit` is the maximum number of connections, `per_address` that from one network (see `network_of`). Trusted
    `proxies` may exceed `per_address`. `sockets` is the maximum number together with the connections of `streams`.
    `queued` is the limit of each Budget, in bytes: `budget` of responses, `incoming` of incomplete requests. When the
    service stops, requests that arrive within LATE_REQUESTS are still answered. All connections are closed after
    `grace` seconds. `at_end` calls a function at the end of the reactor turn.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        proxies: Proxies,
        *,
        limit: int,
        per_address: int,
        grace: float,
        queued: int,
        sockets: int,
        at_end: Callable[[Callable[[], None]], None],
        streams: Callable[[], int] = int,
    ) -> None:
        self.budget = Budget(queued)
        self.incoming = Budget(queued)
        self.turns = TurnShare(clock.seconds, at_end)
        self._clock = clock
        self.proxies = proxies
        self._limit = limit
        self._per_address = per_address
        self._grace = grace
        self._sockets = sockets
        self._streams = streams
        self._open: set[Connection] = set()
        self._aborted = 0
        self._by_address: Counter[str] = Counter()
        self._rejected = 0
        self._closed: Deferred[None] | None = None
        self._timer = Timer(CHECK, self._check, clock, at_start=False)

    def __len__(self) -> int:
        return len(self._open)

    def accepts(self, address: str) -> bool:
        """Return whether a new connection is within the limits. `address` is empty for UNIX sockets."""
        exceeded = address and self._by_address[network_of(address)] >= self._per_address
        exceeded = exceeded and not self.proxies.trusts(address)
        count = len(self._open)
        accepted = not exceeded and count < self._limit and count + self._streams() < self._sockets
        self._rejected += not accepted
        return accepted

    def add(self, connection: Connection) -> None:
        """Add a connection. If the server is stopping, the connection closes after one response."""
        self._open.add(connection)
        self._by_address[connection.network] += 1
        if self._closed is not None:
            connection.close_after_response()

    def remove(self, connection: Connection) -> None:
        """Remove a connection that is closed or has switched its protocol."""
        self.incoming.forget(connection)
        if connection in self._open:
            self._open.remove(connection)
            self._by_address[connection.network] -= 1
            if not self._by_address[connection.network]:
                del self._by_address[connection.network]
        if self._closed is not None and not self._open and not self._closed.called:
            self._closed.callback(None)

    def startService(self) -> None:
        super().startService()
        self._timer.startService()

    def stopService(self) -> Deferred[None]:
        super().stopService()
        if not self._open:
            self._timer.stopService()
            return succeed(None)
        self._closed = Deferred()
        for connection in self._open:
            connection.close_after_response()
        self._clock.callLater(min(LATE_REQUESTS, self._grace), self._close_idle)
        return (
            self._closed.addTimeout(self._grace, self._clock).addErrback(self._log_remaining).addBoth(self._stop_timer)
        )

    def _check(self) -> None:
        now = self._clock.seconds()
        for connection in list(self._open):
            connection.check(now)
        if self._rejected:
            self._log.warn(
                "{connections} rejected: too many are open", connections=counted(self._rejected, "connection")
            )
            self._rejected = 0
        aborted = self.budget.aborted + self.incoming.aborted
        if aborted > self._aborted:
            count, self._aborted = aborted - self._aborted, aborted
            self._log.warn(
                "{clients} disconnected: http.queued was exceeded",
                clients=counted(count, "slow client"),
            )

    def _close_idle(self) -> None:
        for connection in list(self._open):
            connection.close_if_idle()

    def _log_remaining(self, _: Failure) -> None:
        self._log.warn(
            "{connections} closed before the response was sent", connections=counted(len(self._open), "connection")
        )

    def _stop_timer(self, _: object) -> None:
        self._timer.stopService()


class Rejected(TwistedProtocol):
    """Close a connection immediately.

    Twisted's wrapping factories, such as that of TLS, do not accept None from `buildProtocol`.
    """

    transport: Any

    def connectionMade(self) -> None:
        self.transport.abortConnection()


LONG = 0.05
"""Seconds of a turn from which each network of clients gets at most one response in it."""


class TurnShare:
    """Decides which requests are answered in a reactor turn, and which wait for the next one.

    300 requests that arrive together from one network would otherwise delay all other clients until the last one is
    answered. `now` returns seconds, `at_end` calls a function at the end of the turn.
    """

    __slots__ = ("_at_end", "_began", "_now", "_served")

    def __init__(self, now: Callable[[], float], at_end: Callable[[Callable[[], None]], None]) -> None:
        self._now = now
        self._at_end = at_end
        self._began = 0.0
        """When the first request of the turn was answered."""
        self._served: set[str] = set()
        """Networks with a request in this turn."""

    def admits(self, network: str) -> bool:
        """Return whether a request of `network` may be answered in this turn."""
        if network in self._served:
            return self._now() - self._began < LONG
        is_first = not self._served
        self._served.add(network)
        if is_first:
            self._began = self._now()
            self._at_end(self._end)
        return True

    def _end(self) -> None:
        self._served.clear()
