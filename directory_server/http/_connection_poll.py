"""Read the connections of a listener with an epoll object of their own, which the reactor sees as one reader."""

from __future__ import annotations

import select
from typing import Any

from twisted.internet.interfaces import IReadDescriptor
from twisted.internet.main import CONNECTION_DONE
from twisted.internet.tcp import Connection
from twisted.logger import Logger
from twisted.python.failure import Failure
from zope.interface import implementer


@implementer(IReadDescriptor)
class ConnectionPoll:
    """The connections of a listener that wait for data.

    For each event, Twisted sets a logging context and calls the reader through seven functions, which takes longer than
    reading from the socket. Here, one such event stands for all connections that are ready (epoll(7): an epoll object
    is itself readable while it has events). The order and the limits of a turn stay: the reactor reads from all of them
    and then runs its delayed calls.
    """

    _log = Logger()

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor
        self._epoll = select.epoll()
        self._connections: dict[int, Connection] = {}

    def fileno(self) -> int:
        """Return the number of the epoll object."""
        return self._epoll.fileno()

    def add(self, connection: Connection) -> None:
        """Read from `connection` when it has data, until it is removed."""
        number = connection.fileno()
        if number not in self._connections:
            self._epoll.register(number, select.EPOLLIN)
            self._connections[number] = connection
            if len(self._connections) == 1:
                self._reactor.addReader(self)

    def remove(self, connection: Connection) -> bool:
        """Stop reading from `connection`; return whether it was added. The number of a closed connection is -1."""
        number = connection.fileno()
        if self._connections.get(number) is not connection:
            return False
        self._epoll.unregister(number)
        del self._connections[number]
        if not self._connections:
            self._reactor.removeReader(self)
        return True

    def doRead(self) -> None:
        """Read from all connections that are ready."""
        for number, event in self._epoll.poll(0):
            # An earlier connection may have closed this one.
            connection = self._connections.get(number)
            if connection is None:
                continue
            reason: BaseException | None
            try:
                # Without data, the event is the end of the connection.
                reason = connection.doRead() if event & select.EPOLLIN else CONNECTION_DONE
            except BaseException as error:
                # As in Twisted, an exception closes the connection on which it was raised, and no other.
                self._log.failure("A connection is closed because of an error")
                reason = error
            if reason is not None:
                _close(connection, reason)

    def connectionLost(self, reason: Failure) -> None:
        """Close all connections. The reactor calls it when it stops."""
        for connection in list(self._connections.values()):
            connection.connectionLost(reason)

    def logPrefix(self) -> str:
        """Return the name of the reader in the log of the reactor."""
        return "connections"


def _close(connection: Connection, reason: BaseException) -> None:
    """Close a connection as the reactor does after doRead."""
    connection.stopReading()
    if reason is CONNECTION_DONE:
        # The client has closed its half.
        connection.readConnectionLost(Failure(reason))
    else:
        connection.connectionLost(Failure(reason))
