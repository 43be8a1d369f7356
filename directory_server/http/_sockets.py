"""TCP ports and connections: ports that processes share, and connections that write to the socket at once."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from errno import EAGAIN, ETIMEDOUT, EWOULDBLOCK
from functools import partial
from socket import SHUT_RDWR
from typing import Any

from attrs import frozen
from twisted.internet import tcp
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IListeningPort, IProtocolFactory, IStreamServerEndpoint
from twisted.internet.main import CONNECTION_DONE, CONNECTION_LOST
from twisted.internet.tcp import Port, Server, makeBinding
from zope.interface import implementer

BUFFER = 16 * 1024
"""Bytes in the transport above which its producer is paused, and the maximum size of one read."""

PAUSE = 1.0
"""Seconds after which a port without file descriptors tries again to reserve one."""

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
class PreparedEndpoint:
    """An endpoint whose connections write at once, and whose port waits when the process has no file descriptor.

    Its TCP connections, also those below TLS, are ImmediateWriteServers. Others are unchanged.
    """

    _endpoint: IStreamServerEndpoint

    def listen(self, factory: IProtocolFactory) -> Deferred[IListeningPort]:
        listening: Deferred[Any] = self._endpoint.listen(factory)
        return listening.addCallback(_write_immediately).addCallback(pause_without_descriptors)


def _write_immediately(port: IListeningPort) -> IListeningPort:
    if isinstance(port, Port) and port.transport is Server:
        port.transport = ImmediateWriteServer
        if port.connected and hasattr(socket, "TCP_NOTSENT_LOWAT"):
            # Accepted sockets inherit the option.
            port.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)
    return port


def pause_without_descriptors(port: IListeningPort) -> IListeningPort:
    """Let a port wait while the process has no file descriptor to accept or to reject a connection.

    Twisted rejects connections with a descriptor that it reserves. It loses it if a thread opens a file meanwhile, and
    never reserves one again: each call of epoll would report the same waiting connection, and fill the log. The port
    reserves one in the next reactor iteration, in which rejected connections are closed, or after each PAUSE.
    """
    if isinstance(port, Port) and sys.platform != "win32":
        port.doRead = partial(_accept, port, port.doRead)  # type: ignore[method-assign]
    return port


def _accept(port: Port, accept: Callable[[], None]) -> None:
    accept()
    if port.connected and not tcp._reservedFD.available():
        port.stopReading()
        _resume_after(0, port)


def _resume_after(seconds: float, port: Port) -> None:
    clock: Any = port.reactor
    clock.callLater(seconds, _resume, port)


def _resume(port: Port) -> None:
    if not port.connected:
        return
    with suppress(OSError):
        # Twisted logs a traceback if it cannot open the file.
        open(os.devnull).close()
        tcp._reservedFD.reserve()
    if tcp._reservedFD.available():
        port.startReading()
    else:
        _resume_after(PAUSE, port)


class ReusePort(Port):
    """A port that accepts the connections in its queue before it closes.

    The kernel resets connections in the queue of a socket that closes, although other processes listen on the same port
    (socket(7), SO_REUSEPORT). The sysctl net.ipv4.tcp_migrate_req changes that.
    """

    backlog: int

    def stopListening(self) -> Deferred[None] | None:  # type: ignore[override]
        if self.connected:
            self.numberAccepts = self.backlog
            self.doRead()
            # Port closes in the next reactor iteration. Connections that arrive before that would be lost.
            self.socket.shutdown(SHUT_RDWR)
        closed: Deferred[None] | None = super().stopListening()
        return closed


@frozen
class ReusePortReactor:
    """A reactor for TCP and TLS endpoints. Other processes of the same user may listen on the same ports."""

    _reactor: Any

    def listenTCP(self, port: int, factory: IProtocolFactory, backlog: int = 50, interface: str = "") -> IListeningPort:
        binding = makeBinding(interface, port, reuseAddress=True, reusePort=True)
        listening = ReusePort(binding, factory, backlog, interface, self._reactor)  # type: ignore[arg-type]
        listening.startListening()
        return listening

    def listenSSL(
        self, port: int, factory: IProtocolFactory, contextFactory: Any, backlog: int = 50, interface: str = ""
    ) -> IListeningPort:
        # The dependencies of TLS are optional.
        from twisted.protocols.tls import TLSMemoryBIOFactory

        return self.listenTCP(port, TLSMemoryBIOFactory(contextFactory, False, factory), backlog, interface)
