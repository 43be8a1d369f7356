"""A process without free file descriptors: open connections keep working, and it recovers by itself."""

from __future__ import annotations

import os
import resource
import socket
import sys
from contextlib import ExitStack, suppress
from http.client import HTTPConnection, HTTPException

import pytest

from ..process.conftest import SEARCH, TIMEOUT, Installation, Server, entry_line, until
from .conftest import HEARTBEAT, assert_spent, open_stream, wait_for_heartbeat

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="prlimit(2) is Linux's"),
]

CLIENTS = 60
METRICS = ("--set", "metrics.listen=tcp:0:interface=127.0.0.1")


def accepts_connections(server: Server) -> bool:
    """Return whether a request on a new connection succeeds."""
    with suppress(OSError, HTTPException):
        return server.request("/readyz").status == 200
    return False


def test_open_connections_work_and_the_server_recovers_when_no_descriptor_is_free(installation: Installation) -> None:
    key = installation.new_key()
    with (
        installation.serve(*HEARTBEAT, *METRICS) as server,
        open_stream(server, key) as connection,
        ExitStack() as stack,
    ):
        assert sys.platform == "linux"
        persistent = HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)
        stack.callback(persistent.close)

        def search() -> int:
            persistent.request("GET", f"{SEARCH}?keywords=a", headers={"Authorization": f"Bearer {key}"})
            with persistent.getresponse() as response:
                response.read()
                return response.status

        assert search() == 200
        pid = server.process.pid
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{pid}/fd")) + 10, before[1]))
        # Fewer of the metrics than the kernel queues, because a port that waits accepts none.
        for port, clients in ((server.port, CLIENTS), (server.metrics().port, CLIENTS // 3)):
            for _ in range(clients):
                stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT))
        # Open connections keep working: charged searches and streams.
        assert [search() for _ in range(3)] == [200] * 3
        wait_for_heartbeat(connection)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        until(lambda: accepts_connections(server), "a new connection")
        installation.command("import", "-", stdin=entry_line("a.example/one"))
        until(lambda: server.entry_count() == 1, "the import")
        assert_spent(server, key, 4)
        log = server.stop()
    # Twisted closes each connection that it cannot accept and writes a few lines about it. No listener spins:
    # a reactor that retried at once would write thousands.
    assert 0 < log.count("EMFILE") <= 10 * CLIENTS
