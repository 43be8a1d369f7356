"""What systemd is told."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from directory_server import process


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.setblocking(False)
        yield listening


def test_who_waits_is_told_that_it_has_started(listening: socket.socket, tmp_path: Path) -> None:
    listening.bind(str(tmp_path / "socket"))
    process.notify_systemd({"NOTIFY_SOCKET": str(tmp_path / "socket")})
    assert listening.recv(100) == b"READY=1"


def test_a_name_may_be_abstract(listening: socket.socket, tmp_path: Path) -> None:
    listening.bind(f"\0{tmp_path}")
    process.notify_systemd({"NOTIFY_SOCKET": f"@{tmp_path}"})
    assert listening.recv(100) == b"READY=1"


@pytest.mark.parametrize("environ", [{}, {"NOTIFY_SOCKET": ""}])
def test_otherwise_nobody_is_told(environ: dict[str, str]) -> None:
    process.notify_systemd(environ)
