"""TCP ports that several processes listen on, the kernel spreading the connections over them."""

from __future__ import annotations

from socket import SHUT_RDWR
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IListeningPort, IProtocolFactory
from twisted.internet.tcp import Port, makeBinding


class ReusePort(Port):
    """A port that takes in, before it closes, whoever waits in its queue.

    The kernel resets those that wait in a queue that closes, though others listen on the same port (socket(7),
    SO_REUSEPORT; unless net.ipv4.tcp_migrate_req is set).
    """

    backlog: int

    def stopListening(self) -> Deferred[None] | None:  # type: ignore[override]
        if self.connected:
            self.numberAccepts = self.backlog
            self.doRead()
            # In the same step, for Port closes in the next, and those who come until then would be lost.
            self.socket.shutdown(SHUT_RDWR)
        closed: Deferred[None] | None = super().stopListening()
        return closed


@frozen
class ReusePortReactor:
    """A reactor, as endpoints of TCP and TLS know it; other processes of the same user may listen on its ports, too."""

    _reactor: Any

    def listenTCP(self, port: int, factory: IProtocolFactory, backlog: int = 50, interface: str = "") -> IListeningPort:
        binding = makeBinding(interface, port, reuseAddress=True, reusePort=True)
        listening = ReusePort(binding, factory, backlog, interface, self._reactor)  # type: ignore[arg-type]
        listening.startListening()
        return listening

    def listenSSL(
        self, port: int, factory: IProtocolFactory, contextFactory: Any, backlog: int = 50, interface: str = ""
    ) -> IListeningPort:
        # Where TLS is not installed, nobody asks for it.
        from twisted.protocols.tls import TLSMemoryBIOFactory

        return self.listenTCP(port, TLSMemoryBIOFactory(contextFactory, False, factory), backlog, interface)
