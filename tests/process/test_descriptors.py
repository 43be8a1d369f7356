"""The limit of open files: clients that use all connections leave descriptors for the databases."""

from __future__ import annotations

import os
import socket
from contextlib import ExitStack, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest

from .conftest import FOREGROUND, LISTEN, SEARCH, TIMEOUT, Installation, entry_line, run_server, until

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are counted in /proc"),
]

FILES = 160


def test_too_many_connections_leave_descriptors_for_the_feed(installation: Installation) -> None:
    # `found` polls.
    key = installation.new_key("--limit", "unlimited")
    arguments: list[object] = [*FOREGROUND, "directory", "-d", installation.data, "-l", LISTEN]
    with run_server(arguments, installation.folder, max_files=FILES) as server, ExitStack() as stack:
        line = (
            f"Limit of open files: {FILES}. Connections: at most {FILES // 2}, of these at most 60 streams. "
            "Reserved for databases and logs: 80."
        )
        assert line in server.log.read_text()
        first = HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)
        first.connect()
        clients = [stack.enter_context(socket.create_connection(("127.0.0.1", server.port))) for _ in range(2 * FILES)]

        def sockets() -> int:
            count = 0
            for each in Path(f"/proc/{server.process.pid}/fd").iterdir():
                # The server may close a file while this loop reads the list.
                with suppress(FileNotFoundError):
                    count += str(each.readlink()).startswith("socket:")
            return count

        until(lambda: sockets() >= FILES // 2, "the connections")
        installation.command("import", "-", stdin=entry_line("a.example/late", "A late server."))

        def found() -> bool:
            first.request("GET", f"{SEARCH}?keywords=late", headers={"Authorization": f"Bearer {key}"})
            response = first.getresponse()
            body = response.read()
            assert response.status == 200, body.decode()
            return b"a.example/late" in body

        until(found, "the entry")
        assert sockets() < FILES // 2 + 10
        assert len(os.listdir(f"/proc/{server.process.pid}/fd")) < FILES
        for each in clients:
            each.close()
        until(lambda: sockets() < 10, "the end of the connections")
        assert server.request("/healthz").status == 200
        log = server.stop()
        assert "connections rejected" in log
