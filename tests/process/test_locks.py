"""A locked database and a slow disk hold up what needs them, and nothing else."""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from http.client import HTTPException
from pathlib import Path

import pytest

from .conftest import (
    FOREGROUND,
    LISTEN,
    MCP,
    Installation,
    Response,
    Server,
    environment,
    run_server,
    run_twistd,
    until,
)

pytestmark = pytest.mark.process

FREE = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}

SLOW_FSYNC = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where the file named by SLOW_FSYNC is, syncing a quota.db takes 300 ms, and the thread is noted in that file. */
static void slow(int fd) {
    char link[64], path[512], line[32];
    FILE *file;
    ssize_t size;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    size = readlink(link, path, sizeof path - 1);
    if (size < 0) return;
    path[size] = 0;
    if (!strstr(path, "quota.db") || access(getenv("SLOW_FSYNC"), F_OK)) return;
    file = fopen(getenv("SLOW_FSYNC"), "a");
    snprintf(line, sizeof line, "%s\\n", syscall(SYS_gettid) == getpid() ? "reactor" : "thread");
    fputs(line, file);
    fclose(file);
    usleep(300000);
}

int fsync(int fd) { slow(fd); return ((int (*)(int)) dlsym(RTLD_NEXT, "fsync"))(fd); }
int fdatasync(int fd) { slow(fd); return ((int (*)(int)) dlsym(RTLD_NEXT, "fdatasync"))(fd); }
"""


@contextmanager
def foreign(installation: Installation, database: str) -> Iterator[sqlite3.Connection]:
    """Return the connection of a program that knows nothing of ours."""
    with closing(sqlite3.connect(installation.data / database, isolation_level=None)) as connection:
        yield connection


def spent(installation: Installation) -> int:
    with foreign(installation, "quota.db") as connection:
        return int(connection.execute("SELECT count(*) FROM spent").fetchone()[0])


def searches(pool: ThreadPoolExecutor, server: Server, key: str, number: int) -> list[Future[Response]]:
    return [pool.submit(server.search, "a", key) for _ in range(number)]


def answers_what_is_free(server: Server, key: str, waiting: list[Future[Response]]) -> None:
    """Ask what costs nothing, and find that it is answered before anything that waits is."""
    assert server.request("/healthz").status == 200
    listed = server.request(MCP, key, FREE)
    assert (listed.status, "tools" in listed.json["result"]) == (200, True)
    assert [each for each in waiting if each.done()] == []


@pytest.mark.parametrize("begin", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_foreign_writer_of_the_quota_stops_charges_and_nothing_else(installation: Installation, begin: str) -> None:
    key = installation.new_key()
    with (
        installation.serve("--set", "streams.heartbeat=0.2") as server,
        foreign(installation, "quota.db") as writer,
        ThreadPoolExecutor(10) as pool,
    ):
        assert server.search("a", key).status == 200
        stream = server.open_stream(key)
        writer.execute(begin)
        waiting = searches(pool, server, key, 10)
        answers_what_is_free(server, key, waiting)
        # A comment is a heartbeat.
        assert stream.readline().startswith(b":")
        refused = [each.result() for each in waiting]
        assert {(each.status, each.headers["Retry-After"], each.json["error"]) for each in refused} == {
            (503, "1", "unavailable")
        }
        while stream.readline() != b"\n":
            pass
        assert stream.readline().startswith(b":")
        waiting = searches(pool, server, key, 10)
        answers_what_is_free(server, key, waiting)
        writer.execute("ROLLBACK")
        assert [each.result().status for each in waiting] == [200] * 10
        # Of twenty, eleven are spent: what was refused cost nothing.
        statuses = [each.result().status for each in searches(pool, server, key, 12)]
        assert sorted(statuses) == [200] * 9 + [401] * 3
        stream.close()
        assert "Traceback" not in server.stop()


def test_a_foreign_writer_of_the_catalogue_stops_no_request(installation: Installation) -> None:
    key = installation.new_key()
    with installation.serve() as server, foreign(installation, "directory.db") as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert [server.search("a", key).status for _ in range(3)] == [200] * 3
        answers_what_is_free(server, key, [])
        assert installation.command("key", "list").count("test") == 1


@pytest.mark.parametrize("synchronous", ["normal", "full"])
def test_a_killed_process_has_lost_no_charge_that_it_answered(installation: Installation, synchronous: str) -> None:
    key, answered = installation.new_key("--limit", 10_000), []

    def ask(server: Server) -> None:
        with suppress(OSError, HTTPException):
            while server.search("a", key).status == 200:
                answered.append(server)

    with (
        installation.serve("--set", f"quota.synchronous={synchronous}") as server,
        foreign(installation, "quota.db") as writer,
        ThreadPoolExecutor(8) as pool,
    ):
        clients = [pool.submit(ask, server) for _ in range(8)]
        for number in range(20, 120, 20):
            until(lambda: len(answered) >= number, "answers")  # noqa: B023
            # Charges go both ways: at once and through the queue.
            writer.execute("PRAGMA busy_timeout = 5000")
            writer.execute("BEGIN IMMEDIATE")
            writer.execute("ROLLBACK")
        server.process.kill()
        for client in clients:
            client.result()
    assert len(answered) <= spent(installation) <= len(answered) + len(clients)


def test_two_servers_and_a_foreign_writer_share_one_exact_quota(installation: Installation) -> None:
    key = installation.new_key("--limit", 100)

    def ask(server: Server) -> int:
        return sum(server.search("a", key).status == 200 for _ in range(20))

    with (
        installation.serve() as one,
        installation.serve() as other,
        foreign(installation, "quota.db") as writer,
        ThreadPoolExecutor(8) as pool,
    ):
        clients = [pool.submit(ask, server) for server in (one, other) * 4]
        writer.execute("PRAGMA busy_timeout = 5000")
        while not all(client.done() for client in clients):
            writer.execute("BEGIN IMMEDIATE")
            writer.execute("ROLLBACK")
        assert sum(client.result() for client in clients) == 100
    assert spent(installation) == 100


@pytest.fixture(scope="module")
def slow_fsync(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a library to preload, or skip where there is no C compiler or no such thing as preloading."""
    compiler = shutil.which("cc")
    if compiler is None or not Path("/proc/self/fd").exists():
        pytest.skip("needs a C compiler and Linux")
    folder = tmp_path_factory.mktemp("preload")
    (folder / "slow.c").write_text(SLOW_FSYNC)
    library = folder / "slow.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-w", "-o", library, folder / "slow.c", "-ldl"], check=True)
    return library


@contextmanager
def slow_server(installation: Installation, library: Path, noted: Path, *options: object) -> Iterator[Server]:
    env = environment(LD_PRELOAD=str(library), SLOW_FSYNC=str(noted))
    with run_server(
        [*FOREGROUND, "directory", "-d", installation.data, "-l", LISTEN, *options], noted.parent, env
    ) as server:
        yield server


def test_a_slow_disk_holds_up_durable_charges_and_nothing_else(
    installation: Installation, slow_fsync: Path, tmp_path: Path
) -> None:
    key, noted = installation.new_key(), tmp_path / "synced"
    with (
        slow_server(installation, slow_fsync, noted, "--set", "quota.synchronous=full") as server,
        ThreadPoolExecutor(20) as pool,
    ):
        assert server.search("a", key).status == 200
        noted.touch()
        waiting = searches(pool, server, key, 19)
        answers_what_is_free(server, key, waiting)
        assert [each.result().status for each in waiting] == [200] * 19
        assert server.search("a", key).status == 401
        # One commit serves all that came before it.
        synced = noted.read_text().split()
        assert set(synced) == {"thread"}
        assert len(synced) < 10
        server.process.kill()
    with installation.serve() as server:
        assert server.search("a", key).status == 401


def test_the_reactor_never_syncs_the_quota(installation: Installation, slow_fsync: Path, tmp_path: Path) -> None:
    key, noted = installation.new_key("--limit", 10_000), tmp_path / "synced"
    batch = [
        {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": "search_mcp", "arguments": {"keywords": "a"}},
        }
        for number in range(50)
    ]
    with slow_server(installation, slow_fsync, noted) as server:
        noted.touch()
        for messages in [batch] * 9 + [batch[1:]]:
            assert server.request(MCP, key, messages).status == 200
        assert noted.read_text() == ""
        # The last of 500 charges has the log copied, which syncs twice, and restarted, which syncs it.
        assert server.search("a", key).status == 200
        until(lambda: noted.read_text().count("\n") == 3, "a checkpoint")
        assert server.search("a", key).status == 200
        assert set(noted.read_text().split()) == {"thread"}
        noted.unlink()


def test_a_lock_of_the_folder_ends_a_start_with_a_line(installation: Installation) -> None:
    installation.new_key()
    folder = os.open(installation.data, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    try:
        done = run_twistd(*FOREGROUND, "directory", "-d", installation.data, "-l", LISTEN, cwd=installation.folder)
    finally:
        os.close(folder)
    assert done.returncode == 1
    assert f"another process has locked {installation.data} for more than 10 seconds" in done.stdout
    assert "Traceback" not in done.stdout
