"""A port of a process without file descriptors: real sockets, a reactor in memory, and files that cannot be opened."""

from __future__ import annotations

import os
from collections.abc import Iterator
from errno import EMFILE
from pathlib import Path
from typing import IO

import pytest
from twisted.internet import tcp
from twisted.internet.protocol import Factory
from twisted.internet.tcp import Port
from twisted.internet.testing import MemoryReactorClock

from directory_server.http import _sockets, pause_without_descriptors


@pytest.fixture
def free() -> list[bool]:
    """Return whether a file can be opened, in a list that the test changes."""
    return [True]


@pytest.fixture
def reservation(monkeypatch: pytest.MonkeyPatch, free: list[bool]) -> tcp._FileDescriptorReservation:
    def open_file(*_: object) -> IO[str]:
        if not free[0]:
            raise OSError(EMFILE, "no descriptor")
        return Path(os.devnull).open()

    monkeypatch.setattr(_sockets, "open", open_file, raising=False)
    reservation = tcp._FileDescriptorReservation(open_file)
    monkeypatch.setattr(tcp, "_reservedFD", reservation)
    return reservation


@pytest.fixture
def reactor() -> MemoryReactorClock:
    return MemoryReactorClock()


@pytest.fixture
def port(reactor: MemoryReactorClock, reservation: tcp._FileDescriptorReservation) -> Iterator[Port]:
    """Return a port that has just lost its descriptor, and waits."""
    port = Port(0, Factory(), interface="127.0.0.1", reactor=reactor)
    port.startListening()
    pause_without_descriptors(port)
    port.doRead()
    assert port in reactor.getReaders()
    # The state of Twisted after a thread opened a file while it used the descriptor.
    reservation.__enter__()
    port.doRead()
    assert port not in reactor.getReaders()
    yield port
    if port.connected:
        port.connectionLost(None)


def test_port_reserves_a_descriptor_in_the_next_iteration(
    port: Port, reactor: MemoryReactorClock, reservation: tcp._FileDescriptorReservation
) -> None:
    reactor.advance(0)
    assert port in reactor.getReaders()
    assert reservation.available()


def test_port_waits_until_there_is_a_descriptor(
    port: Port, reactor: MemoryReactorClock, reservation: tcp._FileDescriptorReservation, free: list[bool]
) -> None:
    free[0] = False
    reactor.pump([0, 1, 1])
    assert port not in reactor.getReaders()
    free[0] = True
    reactor.advance(1)
    assert port in reactor.getReaders()
    assert reservation.available()


def test_port_that_closes_while_it_waits_stays_closed(port: Port, reactor: MemoryReactorClock) -> None:
    port.connectionLost(None)
    reactor.advance(2)
    assert port not in reactor.getReaders()
    assert not reactor.getDelayedCalls()
