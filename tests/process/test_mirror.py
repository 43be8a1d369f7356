"""Syncs by the command and by the server, from a registry in another process."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import pytest
from attrs import frozen

from directory_server.runtime.run_sync import run_sync
from directory_server.sqlite import Database, SqliteTables
from directory_server.tables import StoredFollowers, StoredMirrors

from .conftest import COMMAND, Installation, Server, environment, run_command, until

pytestmark = pytest.mark.process

ROOT = Path(__file__).parent.parent.parent


@frozen
class Registry:
    """A registry process."""

    port: int
    output: IO[str]

    def wait_until_stalled(self) -> None:
        """Wait until the registry has received the request to which it does not respond."""
        assert self.output.readline() == "stalled\n"


@contextmanager
def registry(entries: int, stall: str = "-") -> Iterator[Registry]:
    """Run a registry with `entries`; it does not respond to the request for the page at `stall`."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.mirror.serve", "0", str(entries), stall],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield Registry(int(process.stdout.readline()), process.stdout)
        finally:
            process.kill()


def configured(installation: Installation, port: int) -> Path:
    file = installation.folder / "directory.toml"
    file.write_text(f'[[upstream]]\nname = "official"\nurl = "http://127.0.0.1:{port}"\n')
    return file


def mirrors_of(database: Database, ahead: float = 0.0) -> StoredMirrors:
    """Return the upstreams in `database`, by a clock that is `ahead`."""
    tables = SqliteTables(database)
    return StoredMirrors(tables, StoredFollowers(tables, lambda: time.time() + ahead))


def sync_arguments(installation: Installation, file: Path) -> list[object]:
    return ["--data-dir", installation.data, "--config", file, "sync"]


def sync(installation: Installation, file: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(COMMAND), *map(str, sync_arguments(installation, file))],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell starts background processes with SIGINT ignored, and their children inherit that.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )


def test_sync_after_a_killed_one_continues_where_it_stopped(installation: Installation) -> None:
    with registry(700, stall="500") as official, closing(Database(installation.data, "directory")) as database:
        file, mirrors = configured(installation, official.port), mirrors_of(database)

        with sync(installation, file) as killed:
            official.wait_until_stalled()
            killed.kill()
        rejected = run_command(*sync_arguments(installation, file), cwd=installation.folder)
        assert (rejected.stdout, rejected.stderr) == ("", "official: Another process is syncing official.\n")
        # The lease of the killed process expires after a minute.
        later = mirrors_of(database, 61.0)
        assert run_sync(later.hold("official", "test", seconds=60))
        run_sync(later.release("official", "test"))
        continued = run_command(*sync_arguments(installation, file), cwd=installation.folder)
        assert continued.stderr == ""
        assert continued.stdout.startswith("official: full sync of 200 entries in 2 pages and ")
        assert " seconds: 200 added, 0 changed, 0 unchanged, 0 removed, 0 rejected." in continued.stdout
        assert run_sync(mirrors.entries("official")) == 700
        assert "upstream        official: 700 entries, last sync 20" in installation.command("status")


def synced_upstream(server: Server) -> Any:
    """Return what /healthz reports about the upstream once a sync run has succeeded, else None."""
    health = server.request("/healthz").json.get("upstreams", {}).get("official", {})
    return health if health.get("status") == "ok" else None


def test_server_syncs_its_upstream_and_reports_it(installation: Installation) -> None:
    with registry(300) as official:
        file = configured(installation, official.port)
        with installation.serve("-c", file, "--set", "http.health=full") as server:
            until(lambda: server.entry_count() == 300, "the entries")
            health = until(lambda: synced_upstream(server), "the end of the sync run")
            assert set(health) == {"status", "entries", "last_success"}
            installation.command("entry", "hide", "x/00007")
            until(lambda: server.entry_count() == 299, "the removal of the hidden entry")
            log = server.stop()
            assert "Upstream official: 300 added, 0 changed, 0 removed, 0 rejected" in log


def test_server_that_stops_during_a_sync_releases_the_lease(installation: Installation) -> None:
    with registry(200, stall="100") as official, closing(Database(installation.data, "directory")) as database:
        mirrors = mirrors_of(database)
        with installation.serve("-c", configured(installation, official.port)) as server:
            official.wait_until_stalled()
            server.stop()
        assert run_sync(mirrors.get("official")).error == ""
        # A free lease can be taken.
        assert run_sync(mirrors.hold("official", "test", seconds=60))


def quickstart(installation: Installation, upstream: str) -> subprocess.CompletedProcess[str]:
    arguments = ["--data-dir", installation.data, "--set", f"upstream={upstream}", "quickstart"]
    done = run_command(*arguments, cwd=installation.folder)
    done.check_returncode()
    return done


def test_quickstart_syncs_new_upstreams_and_keeps_the_key(installation: Installation) -> None:
    with registry(entries=120) as upstream:
        first = quickstart(installation, f"http://127.0.0.1:{upstream.port}")
        assert "full sync of 120 entries" in first.stdout
        assert "MCP directory server: 120 entries" in first.stdout
        assert "shown only once" in first.stdout
        second = quickstart(installation, f"http://127.0.0.1:{upstream.port}")
    assert "full sync" not in second.stdout
    assert "MCP directory server: 120 entries" in second.stdout


def test_quickstart_serves_the_sample_until_the_upstream_can_be_reached(installation: Installation) -> None:
    with registry(entries=3) as upstream:
        port = upstream.port
    first = quickstart(installation, f"http://127.0.0.1:{port}")
    assert "MCP directory server: 50 entries" in first.stdout
    _, error, *rest = first.stderr.splitlines()
    assert error == "127.0.0.1: It cannot be reached (connection refused)."
    assert rest == [
        "The server repeats a failed sync by itself.",
        "There are no entries yet: the sample catalogue is served meanwhile.",
    ]
    with registry(entries=3) as upstream:
        assert (
            "MCP directory server: 53 entries" in quickstart(installation, f"http://127.0.0.1:{upstream.port}").stdout
        )
