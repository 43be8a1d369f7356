"""Ports with several listeners: real sockets and a reactor in memory."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from twisted.internet.error import CannotListenError
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.tcp import Port
from twisted.internet.testing import MemoryReactorClock

from directory_server.http import ReusePortReactor


class RecordingFactory(Factory):
    """Records the address of each accepted connection."""

    noisy = False

    def __init__(self) -> None:
        self.accepted: list[Any] = []

    def buildProtocol(self, addr: Any) -> Protocol:
        self.accepted.append(addr)
        return Protocol()


@pytest.fixture
def reactor() -> MemoryReactorClock:
    return MemoryReactorClock()


@pytest.fixture
def ports(reactor: MemoryReactorClock) -> Iterator[Any]:
    """Return a function that listens with a factory on a loopback port, and returns the listening port."""
    opened = []

    def listen(factory: RecordingFactory, port: int = 0) -> Any:
        opened.append(ReusePortReactor(reactor).listenTCP(port, factory, 100, "127.0.0.1"))
        return opened[-1]

    yield listen
    for each in opened:
        each.stopListening()
    reactor.advance(0)


def test_only_listeners_with_reuse_port_share_a_port(reactor: Any, ports: Any) -> None:
    number = ports(RecordingFactory()).getHost().port
    assert ports(RecordingFactory(), number).getHost().port == number
    with pytest.raises(CannotListenError):
        Port(number, RecordingFactory(), 100, "127.0.0.1", reactor).startListening()


def test_a_stopping_port_accepts_the_connections_in_its_queue(reactor: Any, ports: Any) -> None:
    factory = RecordingFactory()
    port = ports(factory)
    port.doRead()
    waiting = [socket.create_connection(("127.0.0.1", port.getHost().port)) for _ in range(50)]
    stopped = port.stopListening()
    assert len(factory.accepted) == 50
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port.getHost().port))
    reactor.advance(0)
    assert stopped.called
    for each in waiting:
        each.close()


def test_stopping_twice_does_nothing(reactor: Any, ports: Any) -> None:
    port = ports(RecordingFactory())
    port.stopListening()
    reactor.advance(0)
    assert port.stopListening() is None


def test_tls_listeners_share_a_port(reactor: Any) -> None:
    pytest.importorskip("OpenSSL")
    from twisted.internet.ssl import CertificateOptions

    factory = RecordingFactory()
    first: Any = ReusePortReactor(reactor).listenSSL(0, factory, CertificateOptions(), interface="127.0.0.1")
    second: Any = ReusePortReactor(reactor).listenSSL(
        first.getHost().port, factory, CertificateOptions(), interface="127.0.0.1"
    )
    assert first.factory.wrappedFactory is second.factory.wrappedFactory is factory
    for each in (first, second):
        each.stopListening()
    reactor.advance(0)
