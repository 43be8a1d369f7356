"""Connections that write at once: a pair of real sockets and a reactor in memory."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import define
from twisted.internet.defer import succeed
from twisted.internet.error import ConnectionDone
from twisted.internet.protocol import Protocol
from twisted.internet.tcp import Port, Server
from twisted.internet.testing import MemoryReactorClock
from twisted.python.failure import Failure

from directory_server.http import ImmediateWriteServer, PreparedEndpoint


@define
class Pair:
    """A connection, and the socket of its peer."""

    reactor: Any
    connection: Any
    other: socket.socket

    @property
    def wants_to_write(self) -> bool:
        return self.connection in self.reactor.getWriters()

    def read(self, size: int = 1 << 20) -> bytes:
        try:
            return self.other.recv(size)
        except BlockingIOError:
            return b""

    def read_all(self) -> bytes:
        """Let the peer read and the reactor write until nothing is pending."""
        found = [self.read()]
        while self.wants_to_write or found[-1]:
            if self.wants_to_write:
                self.connection.doWrite()
            found.append(self.read())
        return b"".join(found)


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, other = socket.socketpair()
    other.setblocking(False)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    reactor = MemoryReactorClock()
    connection = ImmediateWriteServer(ours, Protocol(), ("127.0.0.1", 1), None, 0, reactor)  # type: ignore[arg-type]  # it is not used
    yield Pair(reactor, connection, other)
    connection.connectionLost(Failure(ConnectionDone()))
    other.close()


def test_data_that_the_kernel_accepts_is_sent_at_once(pair: Pair) -> None:
    pair.connection.write(b"a")
    pair.connection.write(b"b")
    assert not pair.wants_to_write
    assert pair.read() == b"ab"


def test_data_that_the_kernel_rejects_follows_in_order(pair: Pair) -> None:
    pair.connection.write(b"a" * 100_000)
    assert pair.wants_to_write
    pair.connection.write(b"b" * 10)
    pair.connection.writeSequence([b"c", b"d"])
    assert pair.read_all() == b"a" * 100_000 + b"b" * 10 + b"cd"
    pair.connection.write(b"e")
    assert (pair.wants_to_write, pair.read()) == (False, b"e")


def test_only_plain_tcp_ports_are_changed() -> None:
    class Other(Server):
        pass

    @define
    class Endpoint:
        port: Any

        def listen(self, factory: Any) -> Any:
            return succeed(self.port)

    def transport(port: Any) -> Any:
        listening: Any = PreparedEndpoint(Endpoint(port)).listen(None)  # type: ignore[arg-type]
        return listening.result.transport

    port, special = (Port(0, None, reactor=MemoryReactorClock()) for _ in range(2))  # type: ignore[arg-type]
    special.transport = Other
    assert (transport(port), transport(special)) == (ImmediateWriteServer, Other)


@pytest.mark.parametrize(("number", "timed_out"), [(errno.ETIMEDOUT, True), (errno.ECONNRESET, False)])
def test_timed_out_is_set_when_the_kernel_aborted_the_connection(number: int, timed_out: bool) -> None:
    from twisted.internet.main import CONNECTION_LOST

    class Socket:
        def recv(self, size: int) -> bytes:
            raise OSError(number, "")

    server: Any = ImmediateWriteServer.__new__(ImmediateWriteServer)
    server.socket = Socket()
    assert (server.doRead(), server.timed_out) == (CONNECTION_LOST, timed_out)
