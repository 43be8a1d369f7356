"""`directory-server`: what each command prints, keeps and refuses."""

from __future__ import annotations

import fcntl
import json
import os
import re
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import frozen
from click.testing import CliRunner, Result

from directory_server import sqlite
from directory_server.cli.main import main
from directory_server.domain.entries import OFFICIAL, mcp_id_of
from directory_server.domain.keys import ApiKey
from directory_server.run_sync import inline, run_sync
from directory_server.search import TextAnalysis

SECRET = re.compile(r"mcpd_[0-9A-Za-z]{38}\n")


@frozen
class Directory:
    """A data directory, the command that works on it, and what it finds there."""

    data: Path
    keyring: sqlite.SqliteKeyRing
    store: sqlite.SqliteStore
    quota: sqlite.SqliteQuota

    def run(self, *arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(main, ["--data-dir", str(self.data), *arguments], input=stdin)

    def succeed(self, *arguments: str, stdin: str | None = None) -> str:
        """Return what a command prints to standard output."""
        result = self.run(*arguments, stdin=stdin)
        assert result.exit_code == 0, result.output
        return result.stdout

    def fail(self, *arguments: str) -> str:
        """Return what a command that refuses says in its last line."""
        result = self.run(*arguments)
        assert result.exit_code in (1, 2)
        assert isinstance(result.exception, SystemExit), result.exception
        assert result.stdout == ""
        return result.stderr.splitlines()[-1]

    def all_keys(self) -> list[ApiKey]:
        return list(run_sync(self.keyring.list()))

    def entries(self) -> int:
        return run_sync(self.store.count())


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Directory]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    folder = tmp_path / "data"
    opened = sqlite.DataDirectory(folder)
    yield Directory(
        folder,
        sqlite.SqliteKeyRing(opened.directory, time.time),
        sqlite.SqliteStore(opened.directory, inline, TextAnalysis()),
        sqlite.SqliteQuota(opened.quota, time.time),
    )
    opened.close()


def line(name: str, description: str = "A server.") -> str:
    return json.dumps({"name": name, "version": "1.0.0", "description": description}) + "\n"


def test_a_data_directory_that_another_process_keeps_locked_is_said_in_one_line(
    directory: Directory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("directory_server.sqlite._folder_lock.TIMEOUT", 0.1)
    folder = os.open(directory.data, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    refused = directory.fail("key", "list")
    os.close(folder)
    assert refused == (
        f"Error: Cannot use {directory.data}: another process has locked {directory.data} for more than 0.1 "
        f"seconds. A process that upgrades the data directory does so; any other should be ended. "
        f"'lsof {directory.data}' lists the processes."
    )


def test_a_new_key_alone_goes_to_standard_output(directory: Directory) -> None:
    result = directory.run("key", "create", "--label", "an editor")
    (key,) = directory.all_keys()
    assert SECRET.fullmatch(result.stdout)
    assert result.stderr == f"Created key {key.id} for 'an editor'. Its secret is shown only once:\n"
    assert run_sync(directory.keyring.find(result.stdout.strip())) == key
    assert (key.label, key.limit, key.expires_at) == ("an editor", 20, None)


@pytest.mark.parametrize(("text", "limit"), [("5", 5), ("unlimited", None), ("1000000", 1_000_000)])
def test_a_key_may_have_a_limit_of_its_own(directory: Directory, text: str, limit: int | None) -> None:
    directory.succeed("key", "create", "--label", "a", "--limit", text)
    assert directory.all_keys()[0].limit == limit


def test_a_key_has_the_limit_that_is_set(directory: Directory) -> None:
    directory.succeed("--set", "quota.limit=unlimited", "key", "create", "--label", "a")
    assert directory.all_keys()[0].limit is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2999-01-31", datetime(2999, 1, 31, tzinfo=UTC)),
        ("2999-01-31T12:00:00+02:00", datetime(2999, 1, 31, 10, tzinfo=UTC)),
    ],
)
def test_a_key_may_end_on_a_date(directory: Directory, text: str, moment: datetime) -> None:
    directory.succeed("key", "create", "--label", "a", "--expires", text)
    assert directory.all_keys()[0].expires_at == moment.timestamp()


@pytest.mark.parametrize(("text", "seconds"), [("15m", 900), ("12h", 43_200), ("30d", 2_592_000)])
def test_a_key_may_end_after_a_span(directory: Directory, text: str, seconds: int) -> None:
    directory.succeed("key", "create", "--label", "a", "--expires", text)
    (key,) = directory.all_keys()
    assert key.expires_at is not None
    assert key.expires_at - key.created_at == pytest.approx(seconds, abs=1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "Missing option '--label'"),
        (["--label", ""], "label: must be 1 to 100 printable characters"),
        (["--label", "a\nb"], "label: must be 1 to 100 printable characters"),
        (["--label", "a", "--limit", "0"], "limit: must be 1 to"),
        (["--label", "a", "--limit", "-1"], "--limit: must be a whole number or 'unlimited'"),
        (["--label", "a", "--limit", "many"], "--limit: must be a whole number or 'unlimited'"),
        (["--label", "a", "--limit", "9" * 5000], "--limit: must be a whole number or 'unlimited'"),
        (["--label", "a", "--expires", "soon"], "--expires: must be a duration such as 30d, a date"),
        (["--label", "a", "--expires", "2999-13-01"], "--expires: must be a duration such as 30d, a date"),
        # In UTC that is in the year 10000, which nothing could show again.
        (
            ["--label", "a", "--expires", "9999-12-31T23:59:59-01:00"],
            "--expires: must be a duration such as 30d, a date",
        ),
        (["--label", "a", "--expires", "2020-01-31"], "must be in the future"),
        (["--label", "a", "--expires", "0m"], "must be in the future"),
    ],
)
def test_a_key_that_cannot_be_is_not_made(directory: Directory, options: list[str], said: str) -> None:
    assert said in directory.fail("key", "create", *options)
    assert directory.all_keys() == []


def test_the_list_shows_what_each_key_has_spent_and_no_secret(directory: Directory) -> None:
    secrets = [
        directory.succeed("key", "create", "--label", "busy", "--limit", "5").strip(),
        directory.succeed("key", "create", "--label", "no limit", "--limit", "unlimited").strip(),
        directory.succeed("key", "create", "--label", "ended", "--expires", "2999-01-31").strip(),
    ]
    busy, _, ended = directory.all_keys()
    for _ in range(2):
        run_sync(directory.quota.charge(busy.id, busy.limit))
    directory.succeed("key", "revoke", ended.id)
    shown = directory.succeed("key", "list")
    assert not any(secret in shown for secret in secrets)
    heading, *rows = [re.split(r"  +", row) for row in shown.splitlines()]
    assert heading == ["ID", "LABEL", "ENDS IN", "USED", "LIMIT", "CREATED", "EXPIRES", "STATE", "OWNER"]
    assert [row[0] for row in rows] == [key.id for key in directory.all_keys()]
    assert [row[1:5] for row in rows] == [
        ["busy", secrets[0][-4:], "2", "5"],
        ["no limit", secrets[1][-4:], "-", "unlimited"],
        ["ended", secrets[2][-4:], "0", "20"],
    ]
    assert [row[6:] for row in rows] == [
        ["never", "valid", "-"],
        ["never", "valid", "-"],
        ["2999-01-31 00:00", "revoked", "-"],
    ]


def test_a_revoked_key_is_refused(directory: Directory) -> None:
    secret = directory.succeed("key", "create", "--label", "a").strip()
    (key,) = directory.all_keys()
    result = directory.run("key", "revoke", key.id)
    assert (result.stdout, result.stderr) == ("", f"Key {key.id} is revoked.\n")
    assert run_sync(directory.keyring.find(secret)) is None


def test_a_rotated_key_opens_with_both_secrets_for_a_while(directory: Directory) -> None:
    old = directory.succeed("key", "create", "--label", "a").strip()
    (key,) = directory.all_keys()
    new = directory.succeed("key", "rotate", key.id)
    assert SECRET.fullmatch(new)
    for secret in (old, new.strip()):
        found = run_sync(directory.keyring.find(secret))
        assert found
        assert found.id == key.id


@pytest.mark.parametrize(
    "options",
    [
        ["key", "rotate", "ID", "--grace", "0m"],
        ["key", "rotate", "ID", "--grace", "0"],
        ["--set", "keys.grace=0", "key", "rotate", "ID"],
    ],
)
def test_the_grace_may_be_none(directory: Directory, options: list[str]) -> None:
    old = directory.succeed("key", "create", "--label", "a").strip()
    (key,) = directory.all_keys()
    directory.succeed(*(key.id if option == "ID" else option for option in options))
    assert run_sync(directory.keyring.find(old)) is None


def test_an_unknown_key_and_a_grace_that_cannot_be_are_refused(directory: Directory) -> None:
    assert directory.fail("key", "revoke", "nobody") == "Error: No key has the id 'nobody'."
    assert directory.fail("key", "rotate", "nobody") == "Error: No key has the id 'nobody'."
    assert "--grace: must be a duration such as 30d" in directory.fail("key", "rotate", "nobody", "--grace", "1")


def test_an_import_counts_what_became_of_each_entry(directory: Directory, tmp_path: Path) -> None:
    file = tmp_path / "entries.jsonl"
    file.write_text(line("a.example/one") + line("a.example/two"))
    assert directory.succeed("import", str(file)) == "2 added, 0 changed, 0 unchanged, 0 rejected.\n"
    changed = line("a.example/one") + line("a.example/two", "Another one.") + line("a.example/three")
    assert directory.succeed("import", "-", stdin=changed) == "1 added, 1 changed, 1 unchanged, 0 rejected.\n"
    again = directory.succeed("import", str(file), "-", stdin=line("a.example/two"))
    assert again == "0 added, 1 changed, 2 unchanged, 0 rejected.\n"
    assert directory.succeed("import", str(file)).endswith(" Nothing has changed.\n")
    assert directory.entries() == 3


def test_an_import_is_believed_about_the_official_registry_when_told_so(directory: Directory, tmp_path: Path) -> None:
    server = json.loads(line("x/a"))
    file = tmp_path / "list.json"
    file.write_text(json.dumps({"servers": [{"server": server, "_meta": {OFFICIAL: {"status": "active"}}}]}))
    for options, official in (((), False), (("--official",), True), ((), False)):
        directory.succeed("import", *options, str(file))
        entry = run_sync(directory.store.entry(mcp_id_of("x/a")))
        assert entry is not None
        assert entry.is_official == official


def test_an_entry_that_is_refused_stops_nothing(directory: Directory) -> None:
    result = directory.run("import", "-", stdin=line("a.example/one") + '{"name": 1}\n' + line("a.example/two"))
    assert result.exit_code == 0
    assert result.stdout == "2 added, 0 changed, 0 unchanged, 1 rejected.\n"
    assert result.stderr == "rejected -:2: server.name: must be a string.\n"


def test_a_file_that_is_refused_whole_is_a_failure(directory: Directory, tmp_path: Path) -> None:
    (tmp_path / "good.json").write_text(line("a.example/one"))
    (tmp_path / "bad.json").write_text('{"name": 1}\n{"name": 2}\n')
    result = directory.run("import", "good.json", "bad.json")
    assert (result.exit_code, result.stdout) == (1, "1 added, 0 changed, 0 unchanged, 2 rejected.\n")
    (tmp_path / "empty.json").write_text("[]")
    assert directory.run("import", "good.json", "empty.json").exit_code == 0


def test_a_file_that_cannot_be_read_is_told_and_the_others_are_imported(directory: Directory, tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(line("a.example/one"))
    result = directory.run("import", "missing.json", "one.json")
    assert result.exit_code == 1
    assert result.stdout == "1 added, 0 changed, 0 unchanged, 1 rejected.\n"
    assert result.stderr == "rejected missing.json: The file cannot be read: No such file or directory.\n"


def test_more_refusals_than_anybody_reads_are_counted(directory: Directory) -> None:
    result = directory.run("import", "-", stdin='{"name": 1}\n' * 1001)
    assert len(result.stderr.splitlines()) == 1001
    assert result.stderr.splitlines()[-1] == "… and 1 more rejected"
    assert result.stdout == "0 added, 0 changed, 0 unchanged, 1,001 rejected. Nothing has changed.\n"


def test_the_status_counts(directory: Directory) -> None:
    directory.succeed("import", "-", stdin=line("a.example/one") + line("a.example/two"))
    directory.succeed("import", "-", stdin=line("a.example/one", "Changed."))
    directory.succeed("key", "create", "--label", "a")
    directory.succeed("key", "create", "--label", "b")
    directory.succeed("key", "revoke", directory.all_keys()[0].id)
    assert [re.split(r"  +", row) for row in directory.succeed("status").splitlines()] == [
        ["data directory", str(directory.data.resolve())],
        ["entries", "2"],
        ["last change", "3"],
        ["keys", "1 valid, 2 total"],
    ]


def test_the_settings_in_effect_are_shown(directory: Directory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIRECTORY_SERVER_STREAMS__PER_KEY", "3")
    shown = directory.succeed("--set", "quota.limit=7", "config").splitlines()
    assert {"quota.limit = 7", "streams.per_key = 3", f"data_dir = {directory.data}"} <= set(shown)


def test_quickstart_fills_an_empty_directory_once(directory: Directory) -> None:
    first = directory.succeed("quickstart")
    found = re.search(r"shown only once\): (mcpd_\w+)", first)
    assert found
    key = run_sync(directory.keyring.find(found[1]))
    assert key
    assert key.limit == 20
    entries = directory.entries()
    assert f"MCP directory server: {entries} entries" in first
    configuration = json.loads(first[first.index("{") :])
    server = configuration["mcpServers"]["mcp-directory"]
    assert server["url"] == "http://127.0.0.1:8080/api/open/mcp"
    assert server["headers"]["Authorization"] == f"Bearer {found[1]}"

    second = directory.succeed("--set", "listen=tcp:9090", "quickstart")
    assert "mcpd_" not in second
    assert "http://127.0.0.1:9090/api/open/mcp" in second
    assert (directory.entries(), len(directory.all_keys())) == (entries, 1)


def test_quickstart_names_the_pages_that_anybody_may_see(directory: Directory) -> None:
    assert "browser" not in directory.succeed("quickstart")
    assert "In a browser:  http://127.0.0.1:8080/\n" in directory.succeed("--set", "web.search=public", "quickstart")


def test_quickstart_gives_the_url_that_is_set(directory: Directory) -> None:
    said = directory.succeed("--set", "web.url=https://directory.example.org/", "quickstart")
    configuration = json.loads(said[said.index("{") :])
    assert configuration["mcpServers"]["mcp-directory"]["url"] == "https://directory.example.org/api/open/mcp"
    assert "REST search:   https://directory.example.org/api/open/v1/search\n" in said


def test_quickstart_leaves_what_is_there_alone(directory: Directory) -> None:
    directory.succeed("import", "-", stdin=line("a.example/one"))
    assert "MCP directory server: 1 entries" in directory.succeed("quickstart")


def test_a_setting_that_cannot_be_is_refused_in_one_line(directory: Directory) -> None:
    assert directory.fail("--set", "quota.limt=1", "status").startswith("Error: quota.limt (--set): is not a setting")
    assert directory.fail("--config", "missing.toml", "status").startswith("Error: missing.toml: cannot be read")


def test_a_data_directory_that_cannot_be_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "directory.db").write_bytes(bytes(range(256)) * 40)
    result = CliRunner().invoke(main, ["--data-dir", str(tmp_path), "status"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"Error: Cannot use {tmp_path}: directory.db cannot be used")
    inside = str(tmp_path / "directory.db" / "data")
    nested = CliRunner().invoke(main, ["--data-dir", inside, "key", "create", "--label", "a"])
    assert (nested.exit_code, nested.stdout) == (1, "")
    assert nested.stderr.startswith(f"Error: Cannot use {inside}: ")


@pytest.mark.parametrize("command", ["status", "key list", "key revoke a", "key rotate a"])
def test_what_only_looks_or_ends_makes_no_data_directory(tmp_path: Path, command: str) -> None:
    result = CliRunner().invoke(main, ["--data-dir", str(tmp_path / "mistyped"), *command.split()])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"Error: {tmp_path}/mistyped is not a data directory: it has no directory.db. ")
    assert not (tmp_path / "mistyped").exists()


def test_the_version(directory: Directory) -> None:
    assert directory.succeed("--version") == "directory-server, version 0.1.0\n"


@pytest.mark.parametrize("interface", [":interface=127.0.0.1", ""])
def test_quickstart_fails_first_where_the_port_is_taken(tmp_path: Path, interface: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"tcp:{taken.getsockname()[1]}{interface}"
        arguments = ["--data-dir", str(tmp_path / "data"), "--set", f"listen={listen}", "quickstart", "--check-ports"]
        result = CliRunner().invoke(main, arguments)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith(
            f"Error: Cannot listen on {listen}: Address already in use. Choose another port"
        )
        assert not (tmp_path / "data").exists()
    assert CliRunner().invoke(main, arguments).exit_code == 0


def test_foreign_text_does_not_steer_the_terminal(directory: Directory, tmp_path: Path) -> None:
    file = tmp_path / "evil\x1b]0;title\x07.jsonl"
    file.write_text('{"name": "a/b", "version": "1"}\n')
    result = directory.run("import", str(file))
    assert "server.description: is required" in result.output
    assert "evil\ufffd]0;title\ufffd.jsonl" in result.output
    assert not set(result.output) & set("\x1b\x07")
    directory.succeed("key", "create", "--label", "my\u3164label")
    listed = directory.succeed("key", "list")
    assert "mylabel" in listed
