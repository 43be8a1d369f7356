"""Ports that are listened on more than once: real ones, with a reactor in memory."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from twisted.internet.error import CannotListenError
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.testing import MemoryReactorClock


class Door(Factory):
    """Counts who comes."""

    noisy = False

    def __init__(self) -> None:
        self.came: list[Any] = []

    def buildProtocol(self, addr: Any) -> Protocol:
        self.came.append(addr)
        return Protocol()


@pytest.fixture
def reactor() -> MemoryReactorClock:
    return MemoryReactorClock()


@pytest.fixture
def ports(reactor: MemoryReactorClock) -> Iterator[Any]:
    """Return what listens with a door at a port of loopback, and returns what listens."""
    from directory_server.http import ReusePortReactor

    opened = []

    def listen(door: Door, port: int = 0) -> Any:
        opened.append(ReusePortReactor(reactor).listenTCP(port, door, 100, "127.0.0.1"))
        return opened[-1]

    yield listen
    for each in opened:
        each.stopListening()
    reactor.advance(0)


def test_a_port_may_be_listened_on_again_but_only_by_those_who_share(reactor: Any, ports: Any) -> None:
    from twisted.internet.tcp import Port

    number = ports(Door()).getHost().port
    assert ports(Door(), number).getHost().port == number
    with pytest.raises(CannotListenError):
        Port(number, Door(), 100, "127.0.0.1", reactor).startListening()


def test_who_waits_in_the_queue_of_a_port_that_stops_is_taken_in(reactor: Any, ports: Any) -> None:
    door = Door()
    port = ports(door)
    port.doRead()
    waiting = [socket.create_connection(("127.0.0.1", port.getHost().port)) for _ in range(50)]
    stopped = port.stopListening()
    assert len(door.came) == 50
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port.getHost().port))
    reactor.advance(0)
    assert stopped.called
    for each in waiting:
        each.close()


def test_a_port_stops_once(reactor: Any, ports: Any) -> None:
    port = ports(Door())
    port.stopListening()
    reactor.advance(0)
    assert port.stopListening() is None


def test_tls_may_share_a_port(reactor: Any) -> None:
    pytest.importorskip("OpenSSL")
    from twisted.internet.ssl import CertificateOptions

    from directory_server.http import ReusePortReactor

    door = Door()
    first: Any = ReusePortReactor(reactor).listenSSL(0, door, CertificateOptions(), interface="127.0.0.1")
    second: Any = ReusePortReactor(reactor).listenSSL(
        first.getHost().port, door, CertificateOptions(), interface="127.0.0.1"
    )
    assert first.factory.wrappedFactory is second.factory.wrappedFactory is door
    for each in (first, second):
        each.stopListening()
    reactor.advance(0)
