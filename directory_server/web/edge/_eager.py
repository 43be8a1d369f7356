"""TCP connections that send at once what the kernel takes at once."""

from __future__ import annotations

from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IListeningPort, IProtocolFactory, IStreamServerEndpoint
from twisted.internet.tcp import Port, Server
from zope.interface import implementer


class EagerServer(Server):
    """A connection whose `write` tries the socket first.

    Twisted's own waits for the next turn of the reactor, and asks epoll twice for it, which costs more than all else
    that a short frame does. Whatever the kernel does not take goes Twisted's way, errors too.
    """

    _waiting = False

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
class Eager:
    """An endpoint whose connections are eager where they are of TCP, under TLS too; others stay as they are."""

    _endpoint: IStreamServerEndpoint

    def listen(self, factory: IProtocolFactory) -> Deferred[IListeningPort]:
        listening: Deferred[Any] = self._endpoint.listen(factory)
        return listening.addCallback(_hasten)


def _hasten(port: IListeningPort) -> IListeningPort:
    if isinstance(port, Port) and port.transport is Server:
        port.transport = EagerServer
    return port
