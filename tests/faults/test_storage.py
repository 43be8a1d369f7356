"""Storage faults of a running server: full, read-only and failing disks."""

from __future__ import annotations

import errno
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from ..process.conftest import FOREGROUND, LISTEN, TIMEOUT, Installation, Server, entry_line, run_twistd, until
from .conftest import (
    HEARTBEAT,
    Faults,
    assert_charges_rejected,
    assert_databases_intact,
    assert_spent,
    assert_uncharged_requests_work,
    full_run_only,
    log_lines,
    open_stream,
    wait_for_heartbeat,
    wait_until_ready,
)

pytestmark = pytest.mark.process

IO_ERROR = "the disk cannot be read or written (SQLITE_IOERR_{})"


def assert_survives_fault(server: Server, key: str, begin: Callable[[], object], end: Callable[[], object]) -> None:
    """Assert that uncharged requests work during a storage fault, charges fail, and the server recovers by itself."""
    # Tables of words are loaded.
    wait_until_ready(server)
    with open_stream(server, key) as connection:
        statuses = [server.search("a", key).status for _ in range(3)]
        begin()
        # Until its allocated space is used up, the database accepts writes.
        while statuses[-1] == 200:
            statuses.append(server.search("a", key).status)
        assert statuses[-1] == 503
        for _ in range(3):
            assert_charges_rejected(server, key)
            assert_uncharged_requests_work(server, key, connection)
        not_ready = server.request("/readyz")
        assert (not_ready.status, not_ready.json["reasons"]) == (503, ["storage"])
        end()
        wait_until_ready(server)
        wait_for_heartbeat(connection)
        assert_spent(server, key, statuses.count(200))


def assert_fault_logged_once(server: Server, path: Path, reason: str) -> None:
    """Stop the server; assert that it logged exactly one fault of the file at `path`, and its end."""
    log = server.stop()
    code = reason.partition("(")[2].rstrip(")")
    # A timer may write to another file meanwhile.
    assert [line for line in log_lines(log, "Storage") if f" {path}" in line] == [
        f"Storage unavailable: {path}: {reason}",
        f"Storage available again: {path} ({code} ended)",
    ]


def fill(filler: Path) -> None:
    """Write a file until its disk is full."""
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


def test_charges_fail_on_a_full_disk_until_space_is_free(installation: Installation, small_disk: Path) -> None:
    key, filler = installation.new_key(), small_disk / "filler"

    with installation.serve(*HEARTBEAT) as server:
        assert_survives_fault(server, key, partial(fill, filler), filler.unlink)
        installation.command("import", "-", stdin=entry_line("a.example/later"))
        until(lambda: server.entry_count() == 1, "the import")
        assert_fault_logged_once(server, small_disk / "quota.db", "the disk is full (SQLITE_FULL)")
    assert_databases_intact(installation)


@pytest.mark.parametrize(
    ("action", "number", "reason"),
    [
        pytest.param("write", errno.EIO, IO_ERROR.format("WRITE"), id="EIO"),
        pytest.param("write", errno.EROFS, IO_ERROR.format("WRITE"), id="EROFS", marks=full_run_only),
        pytest.param("write", errno.ENOSPC, "the disk is full (SQLITE_FULL)", id="ENOSPC", marks=full_run_only),
    ],
)
def test_charges_fail_while_writes_fail(
    installation: Installation, faults: Faults, action: str, number: int, reason: str
) -> None:
    key = installation.new_key()
    with faults.serve(installation, *HEARTBEAT) as server:
        assert_survives_fault(server, key, partial(faults.begin, action, "quota.db", number), faults.end)
        assert_fault_logged_once(server, installation.data / "quota.db", reason)
    assert_databases_intact(installation)


@full_run_only
def test_charges_fail_while_syncs_fail(installation: Installation, faults: Faults) -> None:
    key = installation.new_key()
    with faults.serve(installation, *HEARTBEAT, "--set", "quota.synchronous=full") as server:
        assert_survives_fault(server, key, partial(faults.begin, "sync", "quota.db", errno.EIO), faults.end)
        assert_fault_logged_once(server, installation.data / "quota.db", IO_ERROR.format("FSYNC"))
        assert "R" not in faults.hits
    assert_databases_intact(installation)


def test_import_fails_while_the_catalogue_cannot_be_written(installation: Installation, faults: Faults) -> None:
    """Charges, searches and streams keep working. The import prints one line and stores nothing; later it succeeds."""
    key = installation.new_key()
    file = installation.folder / "one.jsonl"
    file.write_text(entry_line("a.example/one"))
    with faults.serve(installation, *HEARTBEAT) as server, open_stream(server, key) as connection:
        faults.begin("write", "directory.db", errno.EIO)
        failed = faults.command(installation, "import", file)
        assert failed.returncode == 1
        assert "the disk cannot be read or written" in failed.stderr
        assert "Traceback" not in failed.stderr
        assert [server.search("a", key).status for _ in range(5)] == [200] * 5
        assert_uncharged_requests_work(server, key, connection)
        assert server.entry_count() == 0
        faults.end()
        installation.command("import", file)
        until(lambda: server.entry_count() == 1, "the import")
        assert_spent(server, key, 5)
        server.stop()
    assert_databases_intact(installation)


def test_start_on_a_full_disk_fails_with_one_line(installation: Installation, small_disk: Path) -> None:
    installation.new_key()
    fill(small_disk / "filler")
    process = run_twistd(*FOREGROUND, "directory", "-d", small_disk, "-l", LISTEN, cwd=installation.folder)
    assert process.returncode == 1
    assert "cannot be used now: the disk is full, or cannot be written." in process.stdout.splitlines()[-1]
    assert "Traceback" not in process.stdout


def test_start_on_a_read_only_disk_fails_with_one_line(installation: Installation, small_disk: Path) -> None:
    key = installation.new_key()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    process = run_twistd(*FOREGROUND, "directory", "-d", small_disk, "-l", LISTEN, cwd=installation.folder)
    assert process.returncode == 1
    assert "Cannot serve" in process.stdout
    assert str(small_disk) in process.stdout
    assert "Traceback" not in process.stdout
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    with installation.serve() as server:
        assert_spent(server, key, 0)


def test_server_stops_when_the_data_directory_is_replaced(installation: Installation) -> None:
    key, folder = installation.new_key(), installation.data
    with installation.serve() as server:
        assert [server.search("a", key).status for _ in range(5)] == [200] * 5
        copy = folder.with_name("copy")
        shutil.copytree(folder, copy)
        folder.rename(folder.with_name("old"))
        copy.rename(folder)
        assert server.process.wait(TIMEOUT) == 1
        log = server.log.read_text()
    assert len(log_lines(log, "#critical")) == 1
    assert f"{folder}/directory.db has been replaced by another file." in log
    assert log.rstrip().endswith("Server Shut Down.")
    assert "Traceback" not in log
    # The copy has all charges, also those in the write-ahead log.
    with installation.serve() as server:
        assert_spent(server, key, 5)
