"""Share a TCP port between processes (SO_REUSEPORT). The kernel distributes the connections."""

from __future__ import annotations

from socket import SHUT_RDWR
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IListeningPort, IProtocolFactory
from twisted.internet.tcp import Port, makeBinding


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
