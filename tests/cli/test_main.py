"""`directory-server`: status, config, and errors of all commands."""

from __future__ import annotations

import fcntl
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from directory_server import __version__, tables
from directory_server.cli.output import fitted
from directory_server.command_line import EXAMPLES, all_commands, main
from directory_server.config import load, shown_settings
from directory_server.domain.upstreams import UpstreamState
from directory_server.features import FEATURES, sections
from directory_server.runtime.run_sync import run_sync
from directory_server.services.running import RunningServer, ServerRecord

from .conftest import CommandLine, entry_line


def test_locked_data_directory_is_reported_in_one_line(directory: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.sqlite._connection.TIMEOUT", 0.1)
    folder = os.open(directory.data, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    message = directory.fail("key", "list")
    os.close(folder)
    assert message == (
        f"Error: Cannot use {directory.data}: another process has locked {directory.data} for more than 0.1 "
        f"seconds. A process that upgrades the data directory does so; any other should be ended. "
        f"'lsof {directory.data}' lists the processes."
    )


@pytest.fixture
def closed_port() -> Iterator[int]:
    """Return a port that is bound and not listened on: a server of the developer may have the default port."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def test_status_counts_entries_changes_and_keys(directory: CommandLine, closed_port: int) -> None:
    directory.succeed("import", "-", stdin=entry_line("a.example/one") + entry_line("a.example/two"))
    directory.succeed("import", "-", stdin=entry_line("a.example/one", "Changed."))
    directory.succeed("key", "create", "--label", "a")
    directory.succeed("key", "create", "--label", "b")
    directory.succeed("key", "revoke", directory.all_keys()[0].id)
    listen = f"listen=tcp:{closed_port}:interface=127.0.0.1"
    rows = dict(re.split(r"  +", row) for row in directory.succeed("--set", listen, "status").splitlines())
    assert re.fullmatch(r"0\.\d MB", rows.pop("disk"))
    assert rows == {
        "server": f"not reachable at http://127.0.0.1:{closed_port}",
        "software": __version__,
        "data directory": str(directory.data.resolve()),
        "entries": "2",
        "last change": "3",
        "keys": "1 valid, 2 total",
        "accounts": "none",
    }


def test_status_counts_accounts_by_state(directory: CommandLine, closed_port: int) -> None:
    directory.succeed("account", "add", "ann@example.org")
    directory.succeed("account", "add", "bob@example.org")
    directory.succeed("account", "disable", "bob@example.org")
    assert "accounts        1 invited, 1 disabled\n" in directory.succeed("status")
    listen = f"listen=tcp:{closed_port}:interface=127.0.0.1"
    shown = json.loads(directory.succeed("--set", listen, "status", "--json"))
    assert shown["accounts"] == {"invited": 1, "disabled": 1}
    assert shown["server"] == {"url": f"http://127.0.0.1:{closed_port}", "state": "not reachable"}
    assert shown["storage"] == str(directory.data.resolve())


def test_status_of_a_server_that_listens_on_a_socket(directory: CommandLine) -> None:
    output = directory.succeed("--set", "listen=unix:/run/directory.sock", "status")
    assert output.startswith("server          listens on sockets only\n")


def commands(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all commands and groups below `group`."""
    for name, command in group.commands.items():
        yield f"{path}{name}", command
        if hasattr(command, "commands"):
            yield from commands(command, f"{path}{name} ")


@pytest.mark.parametrize("group", ["", *(path for path, each in commands(all_commands()) if hasattr(each, "commands"))])
def test_help_shows_whole_sentences(directory: CommandLine, group: str) -> None:
    output = directory.succeed(*group.split(), "--help")
    assert "..." not in output.partition("Commands:")[2]


def test_every_listing_prints_json() -> None:
    everything = dict(commands(all_commands()))
    listings = {path: command for path, command in everything.items() if path.split()[-1] in ("list", "log", "search")}
    assert len(listings) >= 7
    for path, command in {**listings, **{name: everything[name] for name in ("status", "config")}}.items():
        assert any("--json" in option.opts for option in command.params), path


def test_config_shows_the_settings_in_effect(directory: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIRECTORY_SERVER_STREAMS__PER_KEY", "3")
    shown = directory.succeed("--set", "quota.limit=7", "config").splitlines()
    assert {"quota.limit = 7", "streams.per_key = 3", f"data_dir = {directory.data}"} <= set(shown)


def settings_of(directory: CommandLine) -> dict[str, str]:
    return shown_settings(load(file=None, environ={}, settings=(), data_dir=directory.data, sections=sections()))


def test_config_shows_the_settings_of_the_running_server(directory: CommandLine) -> None:
    result = directory.run("--set", "quota.limit=7", "config")
    assert "No server runs on this data directory" in result.stderr
    settings = settings_of(directory)
    server = RunningServer(4_321, "1.2.3", 1_700_000_000.0, {**settings, "streams.per_key": "9"})
    record = ServerRecord(directory.data, server)
    result = directory.run("--set", "quota.limit=7", "config")
    assert {"quota.limit = 20", "streams.per_key = 9"} <= set(result.stdout.splitlines())
    assert "process 4321, version 1.2.3, since 2023-11-14 22:13 UTC" in result.stderr
    assert "quota.limit: the command has '7'." in result.stderr
    assert "streams.per_key: the command has '16'." in result.stderr
    assert len(result.stderr.splitlines()) == 3
    shown = json.loads(directory.succeed("config", "--json"))
    assert (shown["servers"][0]["pid"], shown["settings"]["streams.per_key"]) == (4_321, 9)
    assert "process         4321, version 1.2.3" in directory.succeed("status")
    record.close()
    assert "No server runs" in directory.run("config").stderr


def test_links_and_status_have_the_address_of_the_running_server(directory: CommandLine) -> None:
    settings = settings_of(directory)
    listen = "unix:/run/directory.sock tcp:1:interface=127.0.0.1"
    records = [ServerRecord(directory.data, RunningServer(4_321, "1.2.3", 0.0, {**settings, "listen": listen}))]
    shown = json.loads(directory.succeed("status", "--json"))
    assert shown["server"] == {"url": "http://127.0.0.1:1", "state": "not reachable"}
    assert directory.succeed("account", "add", "a@example.org").startswith("http://127.0.0.1:1/account/")
    records.append(ServerRecord(directory.data, RunningServer(4_322, "1.2.3", -1.0, {"web.url": "https://d.example/"})))
    assert directory.succeed("account", "reset", "a@example.org").startswith("https://d.example/account/")
    mine = directory.succeed("--set", "web.url=https://own.example", "account", "reset", "a@example.org")
    assert mine.startswith("https://own.example/account/")
    for each in records:
        each.close()


def test_config_masks_secrets(directory: CommandLine) -> None:
    result = directory.run("--set", "database=host=db password=hunter2", "config", "--json")
    assert "hunter2" not in result.output


def test_invalid_setting_is_reported_in_one_line(directory: CommandLine) -> None:
    assert directory.fail("--set", "quota.limt=1", "status").startswith("Error: quota.limt (--set): is not a setting")
    assert directory.fail("--config", "missing.toml", "status").startswith("Error: missing.toml: cannot be read")


def test_invalid_data_directory_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "directory.db").write_bytes(bytes(range(256)) * 40)
    result = CliRunner().invoke(main, ["--data-dir", str(tmp_path), "status"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"Error: Cannot use {tmp_path}: directory.db cannot be used")
    inside = str(tmp_path / "directory.db" / "data")
    nested = CliRunner().invoke(main, ["--data-dir", inside, "key", "create", "--label", "a"])
    assert (nested.exit_code, nested.stdout) == (1, "")
    assert nested.stderr.startswith(f"Error: Cannot use {inside}: ")


@pytest.mark.parametrize("command", ["status", "key list", "key revoke a", "key rotate a"])
def test_commands_that_only_read_or_revoke_create_no_data_directory(tmp_path: Path, command: str) -> None:
    result = CliRunner().invoke(main, ["--data-dir", str(tmp_path / "mistyped"), *command.split()])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"Error: {tmp_path}/mistyped is not a data directory: it has no directory.db. ")
    assert not (tmp_path / "mistyped").exists()


def test_version(directory: CommandLine) -> None:
    assert directory.succeed("--version") == f"directory-server, version {__version__}\n"


def test_foreign_text_contains_no_terminal_control_sequences(directory: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "evil\x1b]0;title\x07.jsonl"
    file.write_text('{"name": "a/b", "version": "1"}\n')
    result = directory.run("import", str(file))
    assert "server.description: is required" in result.output
    assert "evil\ufffd]0;title\ufffd.jsonl" in result.output
    assert not set(result.output) & set("\x1b\x07")
    directory.succeed("key", "create", "--label", "my\u3164label")
    listed = directory.succeed("key", "list")
    assert "mylabel" in listed


OF_FEATURES = re.compile(r"directory_server\.features\.(\w+)\.(command|service|tables|web)")

IMPORTED = """
import os, sys
from directory_server.command_line import main

def run(*words):
    with open(os.devnull, "w") as sys.stdout:
        try:
            main(words)
        except SystemExit as ended:
            assert ended.code == 0, words
    print(*words, *sys.modules, file=sys.stderr, flush=True)

run("--help")
# Most commands import it. Once imported, it shortens the time of all.
import directory_server.storage
print("storage", *sys.modules, file=sys.stderr)
for name in sys.argv[1:]:
    if os.fork() == 0:
        run(name, "--help")
        os._exit(0)
    os.wait()
"""


def test_help_and_commands_import_neither_the_web_nor_other_features() -> None:
    names = sorted(main.commands)
    program = [sys.executable, "-c", IMPORTED, *names]
    lines = subprocess.run(program, capture_output=True, text=True, check=True).stderr.splitlines()
    of_help, of_storage, *of_commands = [line.split() for line in lines]
    assert not {"klein", "treq", "twisted", "numpy", "sqlite3"} & {*of_help}
    packages = "cli", "web", "composition", "storage", "tables", "search", "sqlite", "postgres"
    assert not {f"directory_server.{package}" for package in packages} & {*of_help}
    features = {name for name in of_help if name.startswith("directory_server.features.")}
    assert features == {feature.package for feature in FEATURES}
    assert [name for name, *_ in of_commands] == names
    forbidden = {"klein", "treq", "twisted.internet.reactor", "directory_server.web", "directory_server.composition"}
    for name, *modules in (of_storage, *of_commands):
        assert not forbidden & {*modules}, name
        assert len({match[1] for match in map(OF_FEATURES.match, modules) if match}) <= 1, name


@pytest.mark.parametrize("name", sorted(main.commands))
def test_the_text_of_a_command_begins_its_own_help(name: str) -> None:
    listed, command = main.commands[name], all_commands().commands[name]
    assert command.name == name
    assert command.get_short_help_str(limit=200) == listed.get_short_help_str(limit=200)


def test_completion_of_names_imports_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_DIRECTORY_SERVER_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "directory-server ke")
    monkeypatch.setenv("COMP_CWORD", "1")
    program = "import sys; from directory_server.command_line import main\n"
    program += "try: main(prog_name='directory-server')\nfinally: print(*sys.modules)"
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False).stdout
    completed, _, modules = output.partition("\n")
    assert completed == "plain,key"
    assert "directory_server.cli._key" not in modules.split()


@pytest.mark.parametrize(("name", "example"), EXAMPLES.items())
def test_an_example_of_the_help_is_a_valid_command(name: str, example: str) -> None:
    result = CliRunner().invoke(main, [*example.partition(" > ")[0].split(), "--help"])
    assert result.exit_code == 0, result.output
    command = all_commands().commands[name]
    assert command.epilog == f"Example: directory-server {example}"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_of_a_shell_is_printed(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])
    assert f"_DIRECTORY_SERVER_COMPLETE={shell}_complete" in result.stdout


def test_columns_are_reduced_to_the_width_of_the_terminal() -> None:
    assert fitted([10, 200, 36], 100, {1}) == [10, 50, 36]
    assert fitted([10, 20], 100, {0, 1}) == [10, 20]
    assert fitted([100, 100], 1, {0, 1}) == [8, 8]


def test_ids_are_never_cut() -> None:
    assert fitted([60, 30, 36], 80, {1}) == [60, 8, 36]
    assert fitted([60, 36], 80, ()) == [60, 36]


def test_sync_makes_the_running_server_sync_what_it_follows(directory: CommandLine) -> None:
    mirrors = tables.StoredMirrors(directory.accounts._tables, None)  # type: ignore[arg-type]
    run_sync(mirrors.put(UpstreamState("official", next_run=2e9)))
    settings = {"upstream.official.url": "https://registry.example", "listen": "tcp:8080"}
    record = ServerRecord(directory.data, RunningServer(1, "1", 0, settings))
    try:
        assert "official: the running server begins a sync run" in directory.succeed("sync")
        assert run_sync(mirrors.get("official")).next_run == 0
        assert "No upstream is configured" in directory.fail("sync", "other")
        assert "  upstream.official: the command has no such settings." in directory.run("config").stderr
    finally:
        record.close()
