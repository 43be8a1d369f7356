"""Floods: huge bodies and incomplete requests, while other requests are served."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from select import select

import pytest

from ..process.conftest import TIMEOUT, Installation, Server
from ._probe import parse_responses

pytestmark = pytest.mark.process

PIECE = b"a=1&" * 16_384
MEGABYTES = 200

HEAD = b"POST /api/open/mcp HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def flooded_server(sample_server: tuple[Installation, Server]) -> Iterator[Server]:
    yield sample_server[1]
    assert "Unhandled" not in sample_server[1].log.read_text()


def peak(server: Server) -> int:
    """Return the peak memory of the server in kilobytes (VmHWM of proc_pid_status(5))."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def files(server: Server) -> set[str]:
    found = set()
    for each in Path(f"/proc/{server.process.pid}/fd").iterdir():
        # The file may be closed meanwhile.
        with suppress(FileNotFoundError):
            found.add(os.readlink(each))
    return found


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (HEAD + b"Content-Length: %d\r\n\r\n" % (MEGABYTES * 2**20), PIECE),
        (
            HEAD + b"Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"%x\r\n%b\r\n" % (len(PIECE), PIECE),
        ),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n" * 10_000),
    ],
    ids=["a length", "chunks", "small chunks"],
)
def test_a_body_of_200_megabytes_uses_no_memory_or_files(flooded_server: Server, head: bytes, piece: bytes) -> None:
    before = peak(flooded_server)
    sent, left = 0, head
    with socket.create_connection(("127.0.0.1", flooded_server.port), timeout=TIMEOUT) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):
            while sent < MEGABYTES * 2**20 and not select([connection], [], [], 0)[0]:
                count = connection.send(left)
                sent, left = sent + count, left[count:] or piece
        received = connection.recv(65_536)
    assert [response.status for response in parse_responses(received)] == [413]
    assert sent < 20 * 2**20
    assert peak(flooded_server) - before < 10_000
    assert not [name for name in files(flooded_server) if name.endswith("(deleted)")]


def test_incomplete_requests_time_out_while_others_are_served(flooded_server: Server) -> None:
    partial = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "
    waiting = [socket.create_connection(("127.0.0.1", flooded_server.port), timeout=TIMEOUT) for _ in range(300)]
    try:
        for connection in waiting:
            connection.sendall(partial)
        for _ in range(5):
            assert flooded_server.request("/healthz").status == 200
            for connection in waiting:
                # On a loaded machine the server may already have closed the connection.
                with suppress(ConnectionError):
                    connection.sendall(b"a")
        for connection in waiting:
            received = b""
            # Bytes that arrive after the close reset the connection, behind the response.
            with suppress(ConnectionResetError):
                while piece := connection.recv(65_536):
                    received += piece
            (response,) = parse_responses(received)
            assert (response.status, response.headers["connection"]) == (408, "close")
    finally:
        for connection in waiting:
            connection.close()
    assert flooded_server.request("/healthz").status == 200
