"""`directory-server sync` without an upstream, and `status` with upstreams."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from directory_server.cli.main import main
from directory_server.domain.upstreams import FinishedRun, UpstreamState
from directory_server.run_sync import inline, run_sync
from directory_server.sqlite import Database, SqliteMirrors


def run(folder: Path, *arguments: str) -> Result:
    file = folder / "directory.toml"
    if not file.exists():
        file.write_text('[[upstream]]\nname = "official"\nurl = "/none.json"\n')
    return CliRunner().invoke(main, ["--data-dir", str(folder / "data"), "--config", str(file), *arguments])


@pytest.mark.parametrize(
    ("configured", "arguments", "message"),
    [
        ("", [], "Error: No upstream is configured; there are: none.\n"),
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


def test_status_shows_upstreams(tmp_path: Path) -> None:
    run(tmp_path, "key", "create", "--label", "a")
    with closing(Database(tmp_path / "data", "directory")) as database:
        mirrors = SqliteMirrors(database, lambda: 0.0, inline)
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
        mirrors = SqliteMirrors(database, lambda: 0.0, inline)
        state = UpstreamState("b", error="It answered 500.", failures=1, entries=3)
        run_sync(mirrors.put(state, run=FinishedRun(60.0, 61.5, True, 5, 4, 0, 0, 1)))
        run_sync(mirrors.put(state, run=FinishedRun(120.0, 120.0, False, error="It answered 500.")))
        run_sync(mirrors.put(UpstreamState("a")))
    (first, second) = json.loads(run(tmp_path, "upstream", "list", "--json").stdout)
    assert (first["name"], first["next_run_at"], second["error"]) == ("a", None, "It answered 500.")
    assert [line.split() for line in run(tmp_path, "upstream", "log").stdout.splitlines()[1:]] == [
        ["b", "1970-01-01", "00:02", "0.0", "incremental", "0", "0", "0", "0", "0", "It", "answered", "500."],
        ["b", "1970-01-01", "00:01", "1.5", "full", "5", "4", "0", "0", "1", "done"],
    ]
    (_, oldest) = json.loads(run(tmp_path, "upstream", "log", "b", "--json").stdout)
    assert oldest == {
        **{"upstream": "b", "started_at": "1970-01-01T00:01:00Z", "ended_at": "1970-01-01T00:01:01Z", "full": True},
        **{"entries": 5, "added": 4, "changed": 0, "removed": 0, "rejected": 1, "error": ""},
    }
    assert run(tmp_path, "upstream", "log", "a", "--json").stdout == "[]\n"
    result = run(tmp_path, "upstream", "log", "c")
    assert (result.exit_code, result.stderr) == (1, "Error: No upstream 'c' was ever synced.\n")
