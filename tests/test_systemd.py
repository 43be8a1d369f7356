"""Start-up notification of systemd (sd_notify(3))."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from directory_server import process


@pytest.fixture
def notify_socket() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify_socket:
        notify_socket.setblocking(False)
        yield notify_socket


def test_ready_is_sent_to_the_socket(notify_socket: socket.socket, tmp_path: Path) -> None:
    notify_socket.bind(str(tmp_path / "socket"))
    process.notify_systemd({"NOTIFY_SOCKET": str(tmp_path / "socket")})
    assert notify_socket.recv(100) == b"READY=1"


def test_ready_is_sent_to_an_abstract_socket(notify_socket: socket.socket, tmp_path: Path) -> None:
    notify_socket.bind(f"\0{tmp_path}")
    process.notify_systemd({"NOTIFY_SOCKET": f"@{tmp_path}"})
    assert notify_socket.recv(100) == b"READY=1"


@pytest.mark.parametrize("environ", [{}, {"NOTIFY_SOCKET": ""}])
def test_nothing_is_sent_without_a_socket(environ: dict[str, str]) -> None:
    process.notify_systemd(environ)
