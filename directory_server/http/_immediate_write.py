"""TCP connections that send at once what the kernel takes at once."""

from __future__ import annotations

import socket
from errno import EAGAIN, ETIMEDOUT, EWOULDBLOCK
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IListeningPort, IProtocolFactory, IStreamServerEndpoint
from twisted.internet.main import CONNECTION_LOST
from twisted.internet.tcp import Port, Server
from zope.interface import implementer

BUFFER = 16 * 1024
"""Bytes that may wait in the transport before its producer is paused; as many are read at a time."""

UNSENT = 128 * 1024
"""Bytes that the kernel may keep unsent for a client (tcp(7), TCP_NOTSENT_LOWAT).

Without it the kernel takes megabytes for a client that does not read, and what it takes tells nothing of the client.
"""


class ImmediateWriteServer(Server):
    """A connection whose `write` tries the socket first.

    Twisted's own waits for the next turn of the reactor, and asks epoll twice for it, which costs more than all else
    that a short frame does. Whatever the kernel does not take goes Twisted's way, errors too.
    """

    bufferSize = BUFFER
    timed_out = False
    """Whether the kernel gave the connection up, since the client took nothing (tcp(7), TCP_USER_TIMEOUT)."""
    _waiting = False

    def doRead(self) -> Any:
        # As Twisted's own, which does not tell why a connection was lost.
        try:
            data = self.socket.recv(self.bufferSize)
        except OSError as error:
            if error.errno in (EAGAIN, EWOULDBLOCK):
                return None
            self.timed_out = error.errno == ETIMEDOUT
            return CONNECTION_LOST
        return self._dataReceived(data)

    def write(self, data: bytes) -> None:
        if not self._waiting and self.connected and not self.TLS:
            sent = self.writeSomeData(data)
            if isinstance(sent, int) and sent:
                if sent == len(data):
                    return
                data = data[sent:]
        super().write(data)

    def startWriting(self) -> None:
        self._waiting = True
        super().startWriting()

    def stopWriting(self) -> None:
        self._waiting = False
        super().stopWriting()

    def abortConnection(self) -> None:
        super().abortConnection()
        # What was waiting is lost; nothing may be sent in its stead.
        self._waiting = True


@implementer(IStreamServerEndpoint)
@frozen
class ImmediateWriteEndpoint:
    """An endpoint whose connections are eager where they are of TCP, under TLS too; others stay as they are."""

    _endpoint: IStreamServerEndpoint

    def listen(self, factory: IProtocolFactory) -> Deferred[IListeningPort]:
        listening: Deferred[Any] = self._endpoint.listen(factory)
        return listening.addCallback(_hasten)


def _hasten(port: IListeningPort) -> IListeningPort:
    if isinstance(port, Port) and port.transport is Server:
        port.transport = ImmediateWriteServer
        if port.connected and hasattr(socket, "TCP_NOTSENT_LOWAT"):
            # Accepted sockets inherit it.
            port.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)
    return port
