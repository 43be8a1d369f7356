"""Fault injection into server processes, and assertions on what works while a fault lasts.

A quick part runs by default. `FAULTS=all pytest tests/faults` runs more kinds of faults, and kills at more writes.

Faults of the C library (preload.c) need Linux and a C compiler, small file systems need root; where these are missing,
the tests are skipped with a reason. Other folders test locks and slow disks of the quota
(tests/process/test_locks.py), files that cannot grow (tests/process/test_storage.py), killed publishers
(tests/process/test_killed_publishers.py), single faults of an upstream (tests/mirror).
"""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from attrs import field, frozen

from ..process.conftest import (
    FOREGROUND,
    LISTEN,
    MCP,
    TIMEOUT,
    Installation,
    Server,
    environment,
    run_command,
    run_server,
    until,
)

ALL = os.environ.get("FAULTS") == "all"
"""Whether the long part runs."""

LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
HEARTBEAT = ("--set", "streams.heartbeat=0.2")
LIMIT = 20
"""The quota of a new key, in requests per hour."""

full_run_only = pytest.mark.skipif(not ALL, reason="runs with FAULTS=all only")


@frozen
class Faults:
    """Faults of preload.c, injected into processes that are started with `env`."""

    library: Path
    control: Path
    env: dict[str, str] = field(init=False)

    @env.default
    def _environment(self) -> dict[str, str]:
        return environment(LD_PRELOAD=str(self.library), FAULT_CONTROL=str(self.control))

    @property
    def hits(self) -> str:
        """One character per failed call since the last fault began: "R" in the main thread, "." in another thread."""
        path = self.control.with_name(f"{self.control.name}.hits")
        return path.read_text() if path.exists() else ""

    def begin(self, action: str, pattern: str, number: int) -> None:
        """Let the calls on files whose path contains `pattern` fail; preload.c lists the actions and their numbers."""
        self.control.with_name(f"{self.control.name}.hits").unlink(missing_ok=True)
        # A process must never read half a line.
        new = self.control.with_name(f"{self.control.name}.new")
        new.write_text(f"{action} {pattern} {number}\n")
        new.rename(self.control)

    def end(self) -> None:
        self.control.unlink(missing_ok=True)

    @contextmanager
    def serve(self, installation: Installation, *options: object, listen: str = LISTEN) -> Iterator[Server]:
        """Run a server on the data directory, with faults injected."""
        arguments = [*FOREGROUND, "directory", "-d", installation.data, "-l", listen, *options]
        with run_server(arguments, installation.folder, self.env) as server:
            yield server

    def command(self, installation: Installation, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Run `directory-server`, with faults injected, until it exits."""
        return run_command("--data-dir", installation.data, *arguments, cwd=installation.folder, env=self.env)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the compiled preload.c; skip the test if it cannot be compiled."""
    compiler = shutil.which("cc")
    if compiler is None or not Path("/proc/self/fd").exists():
        pytest.skip("fault injection needs Linux and a C compiler, cc")
    library = tmp_path_factory.mktemp("preload") / "preload.so"
    source = Path(__file__).with_name("preload.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-w", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.fixture
def faults(library: Path, tmp_path: Path) -> Faults:
    """Return the fault injector of one test."""
    return Faults(library, tmp_path / "fault")


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """Return an empty data directory."""
    return Installation(tmp_path)


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[Path]:
    """Mount a file system in memory; skip the test if it cannot be mounted."""
    folder.mkdir(mode=0o700)
    mount = shutil.which("mount")
    done = mount and subprocess.run([mount, "-t", "tmpfs", "-o", options, "tmpfs", folder], check=False)
    if not done or done.returncode:
        pytest.skip("mounting a small file system needs root")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 4 MB and return its folder; skip the test if it cannot be mounted."""
    with mounted(tmp_path / "data", "size=4m,mode=700") as folder:
        yield folder


@contextmanager
def open_stream(server: Server, key: str) -> Iterator[socket.socket]:
    """Open an event stream and yield its connection."""
    head = f"GET {MCP} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nAccept: text/event-stream\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT) as connection:
        connection.sendall(head.encode())
        received = b""
        while b": \n\n" not in received:
            data = connection.recv(65_536)
            assert data, received
            received += data
        yield connection


def wait_for_heartbeat(connection: socket.socket) -> None:
    """Wait for the next heartbeat (a comment) of a stream; discard everything received before."""
    connection.setblocking(False)
    with suppress(BlockingIOError):
        while connection.recv(65_536):
            pass
    connection.settimeout(TIMEOUT)
    received = b""
    while b":" not in received:
        data = connection.recv(65_536)
        assert data, "the stream has ended"
        received += data


def assert_uncharged_requests_work(server: Server, key: str, connection: socket.socket) -> None:
    """Assert that requests without a write succeed: /healthz, tools/list, and heartbeats of the stream `connection`."""
    assert server.request("/healthz").status == 200
    listed = server.request(MCP, key, LIST_TOOLS)
    assert (listed.status, "tools" in listed.json["result"]) == (200, True)
    wait_for_heartbeat(connection)


def assert_charges_rejected(server: Server, key: str) -> None:
    """Assert that REST and MCP reject a search because it cannot be charged."""
    response = server.search("a", key)
    assert (response.status, response.headers["Retry-After"], response.json["error"]) == (503, "1", "unavailable")
    result = server.call_tool("search_mcp", {"keywords": "a"}, key)
    assert result["isError"] is True
    assert "unavailable" in str(result)


def wait_until_ready(server: Server) -> None:
    """Wait until the server reports that it is ready."""
    until(lambda: server.request("/readyz").status == 200, "readiness")


def assert_spent(server: Server, key: str, charges: int) -> None:
    """Assert that exactly `charges` requests of `key` were charged; spends the rest of its quota."""
    statuses = [server.search("a", key).status for _ in range(LIMIT - charges + 2)]
    assert statuses == [200] * (LIMIT - charges) + [401] * 2


def charge_count(installation: Installation) -> int:
    """Return the number of charges in quota.db."""
    with closing(sqlite3.connect(installation.data / "quota.db")) as connection:
        return int(connection.execute("SELECT count(*) FROM spent").fetchone()[0])


def assert_databases_intact(installation: Installation) -> None:
    """Assert that neither database is damaged."""
    for name in ("directory.db", "quota.db"):
        with closing(sqlite3.connect(installation.data / name)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)], name


def log_lines(log: str, part: str) -> Sequence[str]:
    """Return the lines of `log` that contain `part`, without their timestamps."""
    return [line.partition("] ")[2] for line in log.splitlines() if part in line]
