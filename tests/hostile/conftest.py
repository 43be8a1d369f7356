"""Fixtures: a server in memory and a server process."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from attrs import frozen

from ..logs import captured_lines
from ..process.conftest import TIMEOUT, Installation, Server, installation, sample_server
from ..web.conftest import Server as Memory
from ..web.conftest import server
from ._probe import is_complete

__all__ = ["Installation", "Server", "installation", "sample_server", "server"]


@pytest.fixture
def unlimited(server: Memory) -> str:
    """Return an unlimited key of the server in memory."""
    _, key = server.new_key(limit=None)
    return key


@pytest.fixture
def log() -> Iterator[list[str]]:
    """Return the list that each log event is added to as text."""
    with captured_lines() as lines:
        yield lines


@frozen
class Exchange:
    """Received bytes; `closed` tells whether the server closed the connection."""

    received: bytes
    closed: bool


def exchange(port: int, raw: bytes, *, closes: bool) -> Exchange:
    """Send `raw` on a new connection and read until the server closes it; unless `closes`, until a whole response.

    Raises ConnectionResetError if the reset of the connection loses the response.
    """
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as connection:
        for begin in range(0, len(raw), 65_536):
            try:
                connection.sendall(raw[begin : begin + 65_536])
            except (BrokenPipeError, ConnectionResetError):
                break
        while closes or not is_complete(received):
            try:
                piece = connection.recv(65_536)
            except ConnectionResetError:
                # A reset after the response is no failure.
                if not is_complete(received):
                    raise
                piece = b""
            if not piece:
                return Exchange(received, closed=True)
            received += piece
    return Exchange(received, closed=False)
