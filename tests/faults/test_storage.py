"""Storage that fails under a running server: a full disk, a read-only one, one with errors."""

from __future__ import annotations

import errno
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from ..process.conftest import FOREGROUND, LISTEN, Installation, Server, entry_line, run_twistd, until
from .conftest import (
    HEARTBEAT,
    Faults,
    goes_on,
    heartbeat,
    intact,
    is_exact,
    logged,
    long,
    recovers,
    rejects_charges,
    stream,
)

pytestmark = pytest.mark.process

IO_ERROR = "the disk cannot be read or written (SQLITE_IOERR_{})"


def survives(server: Server, key: str, begin: Callable[[], object], end: Callable[[], object]) -> None:
    """Assert what goes on while a fault of the storage lasts, what is rejected, and the recovery without a restart."""
    with stream(server, key) as opened:
        statuses = [server.search("a", key).status for _ in range(3)]
        begin()
        # What a database has of the disk already can be written still.
        while statuses[-1] == 200:
            statuses.append(server.search("a", key).status)
        assert statuses[-1] == 503
        for _ in range(3):
            rejects_charges(server, key)
            goes_on(server, key, opened)
        not_ready = server.request("/readyz")
        assert (not_ready.status, not_ready.json["reasons"]) == (503, ["storage"])
        end()
        recovers(server)
        heartbeat(opened)
        is_exact(server, key, statuses.count(200))


def is_logged_once(server: Server, path: Path, reason: str) -> None:
    """Stop a server and assert that it logged the beginning and the end of one fault of the file at `path`."""
    log = server.stop()
    code = reason.partition("(")[2].rstrip(")")
    assert logged(log, "Storage") == [
        f"Storage unavailable: {path}: {reason}",
        f"Storage available again: {path} ({code} ended)",
    ]
    assert "Traceback" not in log


def test_a_full_disk(installation: Installation, small_disk: Path) -> None:
    key, filler = installation.new_key(), small_disk / "filler"

    def fill() -> None:
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(4096))

    with installation.serve(*HEARTBEAT) as server:
        survives(server, key, fill, filler.unlink)
        installation.command("import", "-", stdin=entry_line("a.example/later"))
        until(lambda: server.entry_count() == 1, "the import")
        is_logged_once(server, small_disk / "quota.db", "the disk is full (SQLITE_FULL)")
    intact(installation)


@pytest.mark.parametrize(
    ("action", "number", "reason"),
    [
        pytest.param("write", errno.EIO, IO_ERROR.format("WRITE"), id="EIO"),
        pytest.param("write", errno.EROFS, IO_ERROR.format("WRITE"), id="EROFS", marks=long),
        pytest.param("write", errno.ENOSPC, "the disk is full (SQLITE_FULL)", id="ENOSPC", marks=long),
    ],
)
def test_writes_that_fail(installation: Installation, faults: Faults, action: str, number: int, reason: str) -> None:
    key = installation.new_key()
    with faults.serve(installation, *HEARTBEAT) as server:
        survives(server, key, partial(faults.begin, action, "quota.db", number), faults.end)
        is_logged_once(server, installation.data / "quota.db", reason)
    intact(installation)


@long
def test_syncs_that_fail(installation: Installation, faults: Faults) -> None:
    key = installation.new_key()
    with faults.serve(installation, *HEARTBEAT, "--set", "quota.synchronous=full") as server:
        survives(server, key, partial(faults.begin, "sync", "quota.db", errno.EIO), faults.end)
        is_logged_once(server, installation.data / "quota.db", IO_ERROR.format("FSYNC"))
        assert "R" not in faults.hits
    intact(installation)


def test_a_catalogue_that_cannot_be_written(installation: Installation, faults: Faults) -> None:
    """Charges, searches and streams go on; an import ends with a line and leaves nothing; then it succeeds."""
    key = installation.new_key()
    file = installation.folder / "one.jsonl"
    file.write_text(entry_line("a.example/one"))
    with faults.serve(installation, *HEARTBEAT) as server, stream(server, key) as opened:
        faults.begin("write", "directory.db", errno.EIO)
        failed = faults.command(installation, "import", file)
        assert failed.returncode == 1
        assert "the disk cannot be read or written" in failed.stderr
        assert "Traceback" not in failed.stderr
        assert [server.search("a", key).status for _ in range(5)] == [200] * 5
        goes_on(server, key, opened)
        assert server.entry_count() == 0
        faults.end()
        installation.command("import", file)
        until(lambda: server.entry_count() == 1, "the import")
        is_exact(server, key, 5)
        assert "Traceback" not in server.stop()
    intact(installation)


def test_a_read_only_disk_ends_a_start_with_a_line(installation: Installation, small_disk: Path) -> None:
    key = installation.new_key()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    done = run_twistd(*FOREGROUND, "directory", "-d", small_disk, "-l", LISTEN, cwd=installation.folder)
    assert done.returncode == 1
    assert "Cannot serve" in done.stdout
    assert str(small_disk) in done.stdout
    assert "Traceback" not in done.stdout
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    with installation.serve() as server:
        is_exact(server, key, 0)


def test_a_data_directory_that_is_replaced_ends_the_server(installation: Installation) -> None:
    key, folder = installation.new_key(), installation.data
    with installation.serve() as server:
        assert [server.search("a", key).status for _ in range(5)] == [200] * 5
        copy = folder.with_name("copy")
        shutil.copytree(folder, copy)
        folder.rename(folder.with_name("old"))
        copy.rename(folder)
        assert server.process.wait(15) == 1
        log = server.log.read_text()
    assert len(logged(log, "#critical")) == 1
    assert f"{folder}/directory.db has been replaced by another file." in log
    assert log.rstrip().endswith("Server Shut Down.")
    assert "Traceback" not in log
    # The copy has the charges, those too that were in the write-ahead log.
    with installation.serve() as server:
        is_exact(server, key, 5)
