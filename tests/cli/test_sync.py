"""`directory-server sync` without an upstream, and `status` with upstreams."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from twisted.internet.defer import CancelledError
from twisted.internet.threads import deferToThread
from twisted.python.failure import Failure

from directory_server.cli.context import _exit_on_signal
from directory_server.command_line import main
from directory_server.domain.upstreams import FinishedRun, UpstreamState
from directory_server.runtime.run_sync import run_sync
from directory_server.sqlite import Database, SqliteTables
from directory_server.tables import StoredFollowers, StoredMirrors

from ..contract import awaited
from .conftest import run_in_test_reactor


def run(folder: Path, *arguments: str) -> Result:
    file = folder / "directory.toml"
    if not file.exists():
        file.write_text('[[upstream]]\nname = "official"\nurl = "/none.json"\n')
    return CliRunner().invoke(main, ["--data-dir", str(folder / "data"), "--config", str(file), *arguments])


@pytest.mark.parametrize(
    ("configured", "arguments", "message"),
    [
        (
            "",
            [],
            "Error: No upstream is configured. Pass the settings of the server with --config FILE, or "
            "--set upstream=URL.\n",
        ),
        (
            '[[upstream]]\nname = "official"\nurl = "/none.json"\n',
            ["oficial"],
            "Error: No upstream oficial is configured; there are: official.\n",
        ),
    ],
)
def test_sync_without_a_matching_upstream_fails(
    tmp_path: Path, configured: str, arguments: list[str], message: str
) -> None:
    (tmp_path / "directory.toml").write_text(configured)
    result = run(tmp_path, "sync", *arguments)
    assert (result.exit_code, result.stderr) == (1, message)


@pytest.fixture
def in_test_reactor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands use the reactor of the tests."""
    monkeypatch.setattr("directory_server.cli._sync.run_in_reactor", run_in_test_reactor)


@pytest.mark.usefixtures("in_test_reactor")
@awaited
async def test_sync_reports_each_upstream_and_fails_if_one_does(tmp_path: Path) -> None:
    listed = [{"name": f"x/{number}", "version": "1", "description": "x"} for number in range(3)]
    file = tmp_path / "entries.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in [*listed, {"name": "x/broken"}]))
    (tmp_path / "directory.toml").write_text(
        f'[[upstream]]\nname = "file"\nurl = "{file}"\n[[upstream]]\nname = "none"\nurl = "{tmp_path}/none.json"\n'
    )
    result = await deferToThread(run, tmp_path, "sync")
    assert result.exit_code == 1
    (rejected, failed) = result.stderr.splitlines()
    assert rejected.startswith("rejected ")
    assert "version: is required" in rejected
    assert failed.startswith("none: ")
    (report,) = result.stdout.splitlines()
    numbers = "3 added, 0 changed, 0 unchanged, 0 removed, 1 rejected."
    assert re.fullmatch(rf"file: full sync of 3 entries in \d+\.\d seconds: {re.escape(numbers)}", report)
    assert (await deferToThread(run, tmp_path, "sync", "file")).exit_code == 0


def test_a_signal_ends_a_command_with_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        _exit_on_signal(Failure(CancelledError()), "sync")
    assert caught.value.code == 1
    assert capsys.readouterr().err == "Stopped by a signal; the next sync continues from here.\n"


def test_nothing_is_said_if_nobody_reads_the_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # As in: directory-server client-check | head -1
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        output.write("The rest.")
        with pytest.raises(SystemExit) as caught:
            _exit_on_signal(Failure(BrokenPipeError()), "client-check")
        # The interpreter does so at its exit.
        output.flush()
        monkeypatch.undo()
    assert (caught.value.code, capsys.readouterr().err) == (1, "")


def test_status_shows_upstreams(tmp_path: Path) -> None:
    run(tmp_path, "key", "create", "--label", "a")
    with closing(Database(tmp_path / "data", "directory")) as database:
        mirrors = StoredMirrors(SqliteTables(database), StoredFollowers(SqliteTables(database), lambda: 0.0))
        run_sync(mirrors.put(UpstreamState("a", entries=1_200, last_success=0.5)))
        run_sync(mirrors.put(UpstreamState("b", error="It answered 500.", failures=3)))
    assert run(tmp_path, "status").stdout.splitlines()[-3:] == [
        "upstream        a: 1,200 entries, last sync 1970-01-01 00:00 UTC",
        "upstream        b: 0 entries, not synced yet",
        "                3 failed sync runs since then; the last error: It answered 500.",
    ]
    listed = json.loads(run(tmp_path, "upstream", "list", "--json").stdout)
    assert json.loads(run(tmp_path, "status", "--json").stdout)["upstreams"] == listed
    assert [each["last_success_at"] for each in listed] == ["1970-01-01T00:00:00Z", None]


def test_upstreams_and_their_runs_are_listed(tmp_path: Path) -> None:
    run(tmp_path, "key", "create", "--label", "a")
    with closing(Database(tmp_path / "data", "directory")) as database:
        mirrors = StoredMirrors(SqliteTables(database), StoredFollowers(SqliteTables(database), lambda: 0.0))
        state = UpstreamState("b", error="It answered 500.", failures=1, entries=3)
        run_sync(mirrors.put(state, run=FinishedRun(60.0, 61.5, True, 5, 4, 0, 0, 1, note="Skipped: 2 a/b.")))
        run_sync(mirrors.put(state, run=FinishedRun(120.0, 120.0, False, error="It answered 500.")))
        run_sync(mirrors.put(UpstreamState("a")))
    (first, second) = json.loads(run(tmp_path, "upstream", "list", "--json").stdout)
    assert (first["name"], first["next_run_at"], second["error"]) == ("a", None, "It answered 500.")
    assert [line.split() for line in run(tmp_path, "upstream", "log").stdout.splitlines()[1:]] == [
        ["b", "1970-01-01", "00:02", "0.0", "incremental", "0", "0", "0", "0", "0", "It", "answered", "500."],
        ["b", "1970-01-01", "00:01", "1.5", "full", "5", "4", "0", "0", "1", "Skipped:", "2", "a/b."],
    ]
    (_, oldest) = json.loads(run(tmp_path, "upstream", "log", "b", "--json").stdout)
    assert oldest == {
        **{"upstream": "b", "started_at": "1970-01-01T00:01:00Z", "ended_at": "1970-01-01T00:01:01Z", "full": True},
        **{"entries": 5, "added": 4, "changed": 0, "removed": 0, "rejected": 1, "error": ""},
        "note": "Skipped: 2 a/b.",
    }
    assert run(tmp_path, "upstream", "log", "a", "--json").stdout == "[]\n"
    result = run(tmp_path, "upstream", "log", "c")
    assert (result.exit_code, result.stderr) == (1, "Error: No upstream 'c' was ever synced.\n")
