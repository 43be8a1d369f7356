"""Connections that the reactor reads as one: real sockets, and a reactor in memory."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from attrs import define, field
from twisted.internet.error import ConnectionAborted, ConnectionDone, ConnectionLost
from twisted.internet.interfaces import IHalfCloseableProtocol
from twisted.internet.protocol import Protocol, connectionDone
from twisted.internet.testing import MemoryReactorClock
from twisted.python.failure import Failure
from zope.interface import implementer


class Recorder(Protocol):
    """Records what it receives, and calls `on_data`."""

    def __init__(self) -> None:
        self.received = b""
        self.lost: type[BaseException] | None = None
        self.on_data: Callable[[], Any] = lambda: None

    def dataReceived(self, data: bytes) -> None:
        self.received += data
        self.on_data()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.lost = reason.type


@implementer(IHalfCloseableProtocol)
class HalfCloseable(Recorder):
    read_closed = False

    def readConnectionLost(self) -> None:
        self.read_closed = True

    def writeConnectionLost(self) -> None:
        pass


@define(eq=False)
class Listener:
    """Connections of one poll."""

    reactor: Any
    poll: Any
    opened: list[tuple[Any, Any, socket.socket]] = field(factory=list)

    def open(self, protocol: Recorder | None = None) -> tuple[Any, Any, socket.socket]:
        """Return a connection, its protocol and the socket of its client."""
        from directory_server.http import ImmediateWriteServer

        protocol = protocol or Recorder()
        with socket.create_server(("127.0.0.1", 0)) as server:
            client = socket.create_connection(server.getsockname())
            ours, address = server.accept()
        connection = ImmediateWriteServer(ours, protocol, address, None, 0, self.reactor, poll=self.poll)
        protocol.makeConnection(connection)
        self.opened.append((connection, protocol, client))
        return self.opened[-1]

    def turn(self) -> None:
        """Let the reactor read what is ready, and run what is due."""
        for reader in self.reactor.getReaders():
            reader.doRead()
        self.reactor.advance(0)


@pytest.fixture
def listener() -> Iterator[Listener]:
    from directory_server.http._connection_poll import ConnectionPoll

    reactor = MemoryReactorClock()
    listener = Listener(reactor, ConnectionPoll(reactor))
    yield listener
    for connection, _, client in listener.opened:
        connection.connectionLost(Failure(ConnectionDone()))
        client.close()
    assert reactor.getReaders() == []


def test_the_reactor_reads_all_connections_as_one(listener: Listener) -> None:
    opened = [listener.open() for _ in range(3)]
    for number, (_, _, client) in enumerate(opened):
        client.sendall(b"%d" % number)
    assert listener.reactor.getReaders() == [listener.poll]
    listener.turn()
    assert [protocol.received for _, protocol, _ in opened] == [b"0", b"1", b"2"]


def test_the_poll_is_readable_while_a_connection_has_data(listener: Listener) -> None:
    import select

    def is_readable() -> bool:
        return bool(select.select([listener.poll], [], [], 0)[0])

    _, protocol, client = listener.open()
    assert not is_readable()
    client.sendall(b"a")
    assert is_readable()
    listener.turn()
    assert (protocol.received, is_readable()) == (b"a", False)


def test_the_reader_is_removed_with_the_last_connection(listener: Listener) -> None:
    (first, _, _), (second, _, _) = listener.open(), listener.open()
    first.connectionLost(Failure(ConnectionDone()))
    assert listener.reactor.getReaders() == [listener.poll]
    second.connectionLost(Failure(ConnectionDone()))
    assert listener.reactor.getReaders() == []
    listener.open()
    assert listener.reactor.getReaders() == [listener.poll]


def test_a_paused_connection_is_not_read(listener: Listener) -> None:
    connection, protocol, client = listener.open()
    _, other, other_client = listener.open()
    connection.pauseProducing()
    client.sendall(b"a")
    other_client.sendall(b"b")
    listener.turn()
    assert (protocol.received, other.received) == (b"", b"b")
    connection.resumeProducing()
    connection.resumeProducing()
    listener.turn()
    assert protocol.received == b"a"


def test_a_client_that_closes_ends_the_connection(listener: Listener) -> None:
    _, protocol, client = listener.open()
    client.sendall(b"a")
    client.close()
    listener.turn()
    listener.turn()
    assert protocol.received == b"a"
    assert protocol.lost is ConnectionDone


def test_a_reset_ends_the_connection(listener: Listener) -> None:
    _, protocol, client = listener.open()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    listener.turn()
    assert protocol.lost is ConnectionLost


def test_a_closed_half_leaves_the_other_half_open(listener: Listener) -> None:
    connection, protocol, client = listener.open(HalfCloseable())
    client.shutdown(socket.SHUT_WR)
    listener.turn()
    assert (protocol.read_closed, protocol.lost, listener.reactor.getReaders()) == (True, None, [])
    connection.write(b"last")
    assert client.recv(10) == b"last"


def test_an_error_closes_only_the_connection_that_raised_it(listener: Listener, logged_failures: list[Any]) -> None:
    (_, failing, client), (_, other, other_client) = listener.open(), listener.open()
    failing.on_data = lambda: 1 / 0
    client.sendall(b"a")
    other_client.sendall(b"b")
    listener.turn()
    assert failing.lost is ZeroDivisionError
    assert (other.received, other.lost) == (b"b", None)
    assert [event["log_failure"].type for event in logged_failures] == [ZeroDivisionError]
    logged_failures.clear()


@pytest.mark.parametrize("method", ["abortConnection", "pauseProducing"])
def test_a_connection_that_an_earlier_one_has_stopped_is_not_read(listener: Listener, method: str) -> None:
    opened = [listener.open(), listener.open()]
    for (_, protocol, client), (other, _, _) in zip(opened, reversed(opened), strict=True):
        protocol.on_data = getattr(other, method)
        client.sendall(b"a")
    listener.turn()
    assert sorted(protocol.received for _, protocol, _ in opened) == [b"", b"a"]
    lost = {protocol.lost for _, protocol, _ in opened}
    assert lost == ({None, ConnectionAborted} if method == "abortConnection" else {None})


def test_the_reactor_reads_a_connection_from_when_it_waits_to_write(listener: Listener) -> None:
    connection, protocol, client = listener.open()
    connection.write(b"a" * 10_000_000)
    assert connection in listener.reactor.getWriters()
    assert listener.reactor.getReaders() == [connection]
    client.sendall(b"a")
    listener.turn()
    assert protocol.received == b"a"
    connection.pauseProducing()
    assert listener.reactor.getReaders() == []


def test_a_paused_connection_stays_paused_when_it_waits_to_write(listener: Listener) -> None:
    connection, _, _ = listener.open()
    connection.pauseProducing()
    connection.write(b"a" * 10_000_000)
    assert (listener.reactor.getReaders(), listener.reactor.getWriters()) == ([], [connection])
    connection.resumeProducing()
    assert listener.reactor.getReaders() == [connection]


def test_all_connections_close_with_the_poll(listener: Listener) -> None:
    protocols = [listener.open()[1] for _ in range(2)]
    listener.poll.connectionLost(Failure(ConnectionLost()))
    assert [protocol.lost for protocol in protocols] == [ConnectionLost] * 2
