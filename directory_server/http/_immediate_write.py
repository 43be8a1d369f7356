"""TCP connections that write to the socket at once instead of in the next reactor iteration."""

from __future__ import annotations

import socket
from errno import EAGAIN, ETIMEDOUT, EWOULDBLOCK
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IListeningPort, IProtocolFactory, IStreamServerEndpoint
from twisted.internet.main import CONNECTION_DONE, CONNECTION_LOST
from twisted.internet.tcp import Port, Server
from zope.interface import implementer

BUFFER = 16 * 1024
"""Bytes in the transport above which its producer is paused, and the maximum size of one read."""

UNSENT = 128 * 1024
"""Maximum unsent bytes in the kernel's send buffer (tcp(7), TCP_NOTSENT_LOWAT).

Without it, the kernel buffers megabytes for a client that does not read, and the server cannot detect slow clients.
"""


class ImmediateWriteServer(Server):
    """A connection whose `write` tries the socket first.

    Twisted's `write` waits for the next reactor iteration and calls epoll twice, which costs more than all other work
    for a short event. Bytes that the kernel does not accept, and errors, are left to Twisted.
    """

    bufferSize = BUFFER
    timed_out = False
    """Whether the kernel aborted the connection because the client acknowledged nothing (tcp(7), TCP_USER_TIMEOUT)."""
    _waiting = False

    def doRead(self) -> Any:
        # Like Twisted's method, which hides the error that closed the connection, and is slower.
        try:
            data = self.socket.recv(self.bufferSize)
        except OSError as error:
            if error.errno in (EAGAIN, EWOULDBLOCK):
                return None
            self.timed_out = error.errno == ETIMEDOUT
            return CONNECTION_LOST
        if not data:
            return CONNECTION_DONE
        self.protocol.dataReceived(data)
        return None

    def write(self, data: bytes) -> None:
        if not self._waiting and self.connected and not self.TLS:
            try:
                sent = self.socket.send(data)
            except OSError:
                sent = 0
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
        # The pending bytes are lost, so later bytes must not be sent either.
        self._waiting = True


@implementer(IStreamServerEndpoint)
@frozen
class ImmediateWriteEndpoint:
    """An endpoint whose TCP connections, also those below TLS, are ImmediateWriteServers. Others are unchanged."""

    _endpoint: IStreamServerEndpoint

    def listen(self, factory: IProtocolFactory) -> Deferred[IListeningPort]:
        listening: Deferred[Any] = self._endpoint.listen(factory)
        return listening.addCallback(_write_immediately)


def _write_immediately(port: IListeningPort) -> IListeningPort:
    if isinstance(port, Port) and port.transport is Server:
        port.transport = ImmediateWriteServer
        if port.connected and hasattr(socket, "TCP_NOTSENT_LOWAT"):
            # Accepted sockets inherit the option.
            port.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)
    return port
