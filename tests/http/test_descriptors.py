"""A port of a process without file descriptors: real sockets, a reactor in memory, and an `accept` that fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from twisted.internet import tcp
from twisted.internet.protocol import Factory
from twisted.internet.tcp import Port
from twisted.internet.testing import MemoryReactorClock

from directory_server.http import pause_without_descriptors


@pytest.fixture
def reservation(monkeypatch: pytest.MonkeyPatch) -> tcp._FileDescriptorReservation:
    reservation = tcp._FileDescriptorReservation(Path(os.devnull).open)
    monkeypatch.setattr(tcp, "_reservedFD", reservation)
    return reservation


def test_port_without_descriptors_waits_and_reserves_one_again(reservation: tcp._FileDescriptorReservation) -> None:
    reactor = MemoryReactorClock()
    port = Port(0, Factory(), interface="127.0.0.1", reactor=reactor)
    port.startListening()
    try:
        pause_without_descriptors(port)
        port.doRead()
        assert port in reactor.getReaders()
        # The state of Twisted after a thread opened a file while it used the descriptor.
        reservation.__enter__()
        port.doRead()
        assert port not in reactor.getReaders()
        reactor.advance(1)
        assert port in reactor.getReaders()
        assert reservation.available()
    finally:
        port.connectionLost(None)
