"""A locked database and a slow disk delay only the requests that write to it."""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from select import select

import pytest

from .conftest import (
    FOREGROUND,
    LISTEN,
    MCP,
    SEARCH,
    TIMEOUT,
    Installation,
    Response,
    Server,
    environment,
    run_server,
    run_twistd,
    until,
)

pytestmark = pytest.mark.process

LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}

HELD_FSYNC = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* While the file FSYNC_LOG exists, each sync of a quota.db is noted in it; while FSYNC_HOLD exists, the sync waits. */
static void hold(int fd) {
    char link[64], path[512], line[32];
    FILE *file;
    ssize_t size;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    size = readlink(link, path, sizeof path - 1);
    if (size < 0) return;
    path[size] = 0;
    if (!strstr(path, "quota.db") || access(getenv("FSYNC_LOG"), F_OK)) return;
    file = fopen(getenv("FSYNC_LOG"), "a");
    snprintf(line, sizeof line, "%s\\n", syscall(SYS_gettid) == getpid() ? "reactor" : "thread");
    fputs(line, file);
    fclose(file);
    while (!access(getenv("FSYNC_HOLD"), F_OK)) usleep(1000);
}

int fsync(int fd) { hold(fd); return ((int (*)(int)) dlsym(RTLD_NEXT, "fsync"))(fd); }
int fdatasync(int fd) { hold(fd); return ((int (*)(int)) dlsym(RTLD_NEXT, "fdatasync"))(fd); }
"""


@contextmanager
def foreign_connection(installation: Installation, database: str) -> Iterator[sqlite3.Connection]:
    """Yield a connection of another program to `database`, without our pragmas."""
    with closing(sqlite3.connect(installation.data / database, isolation_level=None)) as connection:
        yield connection


def charge_count(installation: Installation) -> int:
    """Return the number of charges in quota.db."""
    with foreign_connection(installation, "quota.db") as connection:
        return int(connection.execute("SELECT count(*) FROM spent").fetchone()[0])


def send_searches(server: Server, key: str, number: int) -> list[HTTPConnection]:
    """Send searches, each on a connection of its own; return the connections without reading the responses."""
    connections = [HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT) for _ in range(number)]
    for connection in connections:
        connection.request("GET", f"{SEARCH}?keywords=a", headers={"Authorization": f"Bearer {key}"})
    return connections


def responses(connections: list[HTTPConnection]) -> list[Response]:
    """Read the response on each of the connections, and close them."""
    found = []
    for connection in connections:
        with closing(connection), connection.getresponse() as response:
            found.append(Response(response.status, response.headers, response.read()))
    return found


def assert_uncharged_requests_work(server: Server, key: str) -> None:
    """Assert that requests which cost nothing succeed."""
    assert server.request("/healthz").status == 200
    listed = server.request(MCP, key, LIST_TOOLS)
    assert (listed.status, "tools" in listed.json["result"]) == (200, True)


def statuses_after(release: Callable[[], object], server: Server, key: str) -> list[int]:
    """Send ten searches that wait, and `release` them; return the statuses of their responses."""
    waiting = send_searches(server, key, 10)
    assert_uncharged_requests_work(server, key)
    early = select([each.sock for each in waiting], [], [], 0)[0]
    release()
    statuses = [each.status for each in responses(waiting)]
    # A loaded machine may delay charges for longer than they wait: then all early responses are rejections.
    assert len(early) <= statuses.count(503)
    assert set(statuses) <= {200, 503}
    return statuses


def test_lock_of_the_quota_by_another_program_delays_only_charges(installation: Installation) -> None:
    key = installation.new_key("--limit", 100)
    with (
        installation.serve("--set", "streams.heartbeat=0.2") as server,
        foreign_connection(installation, "quota.db") as writer,
    ):
        assert server.search("a", key).status == 200
        stream = server.open_stream(key)
        writer.execute("BEGIN IMMEDIATE")
        waiting = send_searches(server, key, 10)
        assert_uncharged_requests_work(server, key)
        # A comment is a heartbeat.
        assert stream.readline().startswith(b":")
        rejected = {(each.status, each.headers["Retry-After"], each.json["error"]) for each in responses(waiting)}
        # Two are admitted and wait for the quota, the others for these.
        assert rejected <= {(503, "1", "unavailable"), (503, "2", "unavailable")}
        while stream.readline() != b"\n":
            pass
        assert stream.readline().startswith(b":")
        writer.execute("ROLLBACK")
        charged = 1

        def lock_briefly() -> bool:
            nonlocal charged
            writer.execute("BEGIN IMMEDIATE")
            statuses = statuses_after(lambda: writer.execute("ROLLBACK"), server, key)
            charged += statuses.count(200)
            return statuses == [200] * 10

        until(lock_briefly, "a lock shorter than the wait of a charge")
        # Rejected requests cost nothing.
        statuses = [each.status for each in responses(send_searches(server, key, 100 - charged + 3))]
        assert sorted(statuses) == [200] * (100 - charged) + [401] * 3
        stream.close()
        server.stop()


@pytest.fixture(scope="module")
def held_fsync(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the compiled HELD_FSYNC; skip the test if it cannot be compiled or preloaded."""
    compiler = shutil.which("cc")
    if compiler is None or not Path("/proc/self/fd").exists():
        pytest.skip("needs a C compiler and Linux")
    folder = tmp_path_factory.mktemp("preload")
    (folder / "hold.c").write_text(HELD_FSYNC)
    library = folder / "hold.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-w", "-o", library, folder / "hold.c", "-ldl"], check=True)
    return library


@contextmanager
def server_with_held_fsync(
    installation: Installation, library: Path, *options: object
) -> Iterator[tuple[Server, Path, Path]]:
    """Run a server with HELD_FSYNC; yield it, the file FSYNC_LOG and the file FSYNC_HOLD, both absent."""
    log, hold = installation.folder / "fsync.log", installation.folder / "fsync.hold"
    env = environment(LD_PRELOAD=str(library), FSYNC_LOG=str(log), FSYNC_HOLD=str(hold))
    arguments = [*FOREGROUND, "directory", "-d", installation.data, "-l", LISTEN, *options]
    with run_server(arguments, installation.folder, env) as server:
        yield server, log, hold
        log.unlink()


def test_slow_disk_delays_only_durable_charges(installation: Installation, held_fsync: Path) -> None:
    key = installation.new_key("--limit", "100")
    charged = 1

    with server_with_held_fsync(installation, held_fsync, "--set", "quota.synchronous=full") as (server, log, hold):

        def hold_briefly() -> bool:
            nonlocal charged
            hold.touch()
            log.write_text("")
            statuses = statuses_after(hold.unlink, server, key)
            charged += statuses.count(200)
            return statuses == [200] * 10

        assert server.search("a", key).status == 200
        until(hold_briefly, "a sync shorter than the wait of a charge")
        # One commit serves all charges that arrived before it.
        syncs = log.read_text().split()
        assert set(syncs) == {"thread"}
        assert len(syncs) < 8
        # Rejected requests cost nothing.
        statuses = [each.status for each in responses(send_searches(server, key, 100 - charged + 3))]
        assert sorted(statuses) == [200] * (100 - charged) + [401] * 3
        server.process.kill()
    assert charge_count(installation) == 100
    with installation.serve() as server:
        assert server.search("a", key).status == 401


def test_reactor_thread_never_syncs_the_quota(installation: Installation, held_fsync: Path) -> None:
    key = installation.new_key("--limit", 10_000)
    params = {"name": "search_mcp", "arguments": {"keywords": "a"}}
    batch = [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params} for number in range(50)]
    with server_with_held_fsync(installation, held_fsync) as (server, log, _):
        log.touch()
        for messages in [batch] * 9 + [batch[1:]]:
            assert server.request(MCP, key, messages).status == 200
        assert log.read_text() == ""
        # The 500th charge starts a checkpoint, which syncs twice. The next write restarts the log and syncs it.
        assert server.search("a", key).status == 200
        until(lambda: log.read_text().count("\n") == 3, "a checkpoint")
        assert server.search("a", key).status == 200
        assert set(log.read_text().split()) == {"thread"}


def test_start_fails_with_one_line_when_the_folder_is_locked(installation: Installation) -> None:
    installation.new_key()
    folder = os.open(installation.data, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    try:
        process = run_twistd(*FOREGROUND, "directory", "-d", installation.data, "-l", LISTEN, cwd=installation.folder)
    finally:
        os.close(folder)
    assert process.returncode == 1
    assert f"another process has locked {installation.data} for more than 10 seconds" in process.stdout
    assert "Traceback" not in process.stdout
