"""What is spent stays spent, also when the process dies."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress

import pytest

from .conftest import FOREGROUND, LISTEN, SEARCH, TIMEOUT, Installation, Server, environment, run_server

pytestmark = pytest.mark.process


def test_quota_of_each_key_is_exact_after_a_crash(installation: Installation) -> None:
    script, editor = installation.new_key(), installation.new_key()
    begin = time.time()
    with installation.serve() as server:
        assert [server.search("a", script).status for _ in range(20)] == [200] * 20
        assert [server.call_tool("search_mcp", {"keywords": "a"}, editor)["isError"] for _ in range(20)] == [False] * 20
        server.process.kill()
    with installation.serve() as server:
        rejected = server.search("a", script)
        assert (rejected.status, rejected.json["error"]) == (401, "rate_limited")
        # The first charged request leaves the window of 3600 seconds.
        elapsed = time.time() - begin
        assert 3600 - elapsed - 1 < int(rejected.headers["Retry-After"]) <= 3600
        result = server.call_tool("search_mcp", {"keywords": "a"}, editor)
        assert result["isError"] is True
        assert "Try again in" in result["content"][0]["text"]


CLIENTS = 20

_KILL = """
import os, signal
from directory_server.sqlite._charge_group import ChargeGroup

spend, commit = ChargeGroup._spend, ChargeGroup._commit
charges, spent, count = [], [], 0

def kill(moment):
    if moment == {moment!r} and len(charges) > 1:
        with open("killed", "w") as file:
            print(count, len(charges), file=file)
        os.kill(os.getpid(), signal.SIGKILL)

def spend_and_kill(self, connection, charge):
    outcome = spend(self, connection, charge)
    spent.append(charge)
    if len(spent) == len(charges):
        kill("before")
    return outcome

def commit_and_kill(self, given):
    global count
    charges[:], spent[:] = given, []
    outcomes = commit(self, given)
    count += len(charges)
    kill("after")
    return outcomes

ChargeGroup._spend, ChargeGroup._commit = spend_and_kill, commit_and_kill
"""
"""A module that Python imports at its start. It kills the server before or after it commits several charges.

The file `killed` then has the number of committed charges, and how many the last transaction has.
"""


@contextmanager
def killed(moment: str, installation: Installation) -> Iterator[Server]:
    """Run a server that is killed before or after it commits several charges together."""
    folder = installation.folder / "modules"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_KILL.format(moment=moment))
    arguments = [*FOREGROUND, "directory", "-d", installation.data, "-l", LISTEN]
    with run_server(arguments, installation.folder, environment(PYTHONPATH=str(folder))) as server:
        yield server


def spent(installation: Installation) -> int:
    with closing(sqlite3.connect(installation.data / "quota.db")) as connection:
        return int(connection.execute("SELECT count(*) FROM spent").fetchone()[0])


def requests_of_one_turn(server: Server, key: str) -> list[bytes]:
    """Send a search on each of CLIENTS connections at once; return what each receives until it is closed."""
    search = f"GET {SEARCH}?keywords=a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
    with ExitStack() as stack:
        address = ("127.0.0.1", server.port)
        clients = [stack.enter_context(socket.create_connection(address, TIMEOUT)) for _ in range(CLIENTS)]
        for client in clients:
            # The response shows that the connection has been accepted.
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert client.recv(65_536).startswith(b"HTTP/1.1 200 ")
        server.process.send_signal(signal.SIGSTOP)
        # A signal takes effect later. A request that is sent before would have a turn of its own.
        os.waitid(os.P_PID, server.process.pid, os.WSTOPPED)
        for client in clients:
            client.sendall(search)
        server.process.send_signal(signal.SIGCONT)
        return [received(client) for client in clients]


def received(client: socket.socket) -> bytes:
    """Return all that a client receives until its connection is closed."""
    data = b""
    with suppress(ConnectionResetError):
        while piece := client.recv(65_536):
            data += piece
    return data


@pytest.mark.parametrize("moment", ["before", "after"])
def test_nothing_is_answered_before_its_charge_is_committed(installation: Installation, moment: str) -> None:
    key = installation.new_key("--limit", 1000)
    with killed(moment, installation) as server:
        assert server.search("a", key).status == 200
        responses = requests_of_one_turn(server, key)
        assert server.process.wait(TIMEOUT) == -9
    committed, group = map(int, (installation.folder / "killed").read_text().split())
    # What was committed stays spent, although its clients received no response.
    assert spent(installation) == committed
    answered = [response for response in responses if response]
    assert {response.partition(b"\r\n")[0] for response in answered} <= {b"HTTP/1.1 200 OK"}
    # How many requests are answered before the group depends on the machine: the first of a turn, unless another
    # thread has locked the file, and those of the turns before, if a turn is long. The first search is answered, too.
    assert 1 + len(answered) <= committed - (group if moment == "after" else 0)
    with installation.serve() as server:
        assert server.search("a", key).headers["X-RateLimit-Remaining"] == str(1000 - committed - 1)
