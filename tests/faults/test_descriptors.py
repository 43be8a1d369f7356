"""A process that has no file descriptor left: what it has open goes on, and it recovers by itself."""

from __future__ import annotations

import os
import resource
import socket
import sys
from contextlib import ExitStack, suppress
from http.client import HTTPConnection, HTTPException

import pytest

from ..process.conftest import SEARCH, TIMEOUT, Installation, Server, entry_line, until
from .conftest import HEARTBEAT, heartbeat, is_exact, stream

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="prlimit(2) is Linux's"),
]

CLIENTS = 60


def answers(server: Server) -> bool:
    """Return whether a server answers on a new connection."""
    with suppress(OSError, HTTPException):
        return server.request("/readyz").status == 200
    return False


def test_no_descriptor_is_left(installation: Installation) -> None:
    key = installation.new_key()
    with installation.serve(*HEARTBEAT) as server, stream(server, key) as opened, ExitStack() as stack:
        assert sys.platform == "linux"
        kept = HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)
        stack.callback(kept.close)

        def search() -> int:
            kept.request("GET", f"{SEARCH}?keywords=a", headers={"Authorization": f"Bearer {key}"})
            with kept.getresponse() as response:
                response.read()
                return response.status

        assert search() == 200
        pid = server.process.pid
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{pid}/fd")) + 10, before[1]))
        for _ in range(CLIENTS):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT))
        # Connections that are open go on: searches with their charges, and streams.
        assert [search() for _ in range(3)] == [200] * 3
        heartbeat(opened)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        until(lambda: answers(server), "a new connection")
        installation.command("import", "-", stdin=entry_line("a.example/one"))
        until(lambda: server.entry_count() == 1, "the import")
        is_exact(server, key, 4)
        log = server.stop()
    # Twisted closes each connection that it cannot accept and writes a few lines about it. The listener does not spin:
    # a reactor that retried at once would write thousands.
    assert 0 < log.count("EMFILE") <= 10 * CLIENTS
    assert "Traceback" not in log
