"""`directory-server quickstart`: sample catalogue, first key and instructions."""

from __future__ import annotations

import re
import shlex
import socket
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from directory_server.command_line import main
from directory_server.runtime.run_sync import run_sync

from .conftest import CommandLine, entry_line


def test_quickstart_fills_only_an_empty_data_directory(directory: CommandLine) -> None:
    first = directory.succeed("quickstart")
    found = re.search(r"shown only once\): (mcpd_\w+)", first)
    assert found
    key = run_sync(directory.keyring.find(found[1]))
    assert key
    assert key.limit == 20
    entries = directory.entries()
    assert f"MCP directory server: {entries} entries" in first

    second = directory.succeed("--set", "listen=tcp:9090", "quickstart")
    assert "mcpd_" not in second
    assert "http://127.0.0.1:9090/api/open/mcp" in second
    assert "An API key was shown at the first start. New one:\n  directory-server key create --label laptop\n" in second
    assert (directory.entries(), len(directory.all_keys())) == (entries, 1)


def test_quickstart_prints_a_command_that_connects_an_editor(directory: CommandLine) -> None:
    (line,) = [line for line in directory.succeed("quickstart").splitlines() if "claude mcp add" in line]
    *words, header = shlex.split(line)
    url = "http://127.0.0.1:8080/api/open/mcp"
    assert words == f"claude mcp add --scope user --transport http mcp-directory {url} --header".split()
    assert re.fullmatch(r"Authorization: Bearer mcpd_\w+", header)


def test_quickstart_creates_an_operator_with_one_link(directory: CommandLine) -> None:
    first = directory.succeed("quickstart")
    found = re.search(r"  http://127\.0\.0\.1:8080/account/invitation/(\S+)$", first, re.MULTILINE)
    assert found
    account = run_sync(directory.accounts.linked(found[1]))
    assert account
    assert (account.email, account.role, account.state) == ("operator@localhost", "operator", "invited")
    assert "(once, within 3 days; your address is operator@localhost)" in first

    second = directory.succeed("quickstart")
    assert "invitation" not in second
    assert "shown at the first start. New one:\n  directory-server account reset operator@localhost\n" in second
    assert run_sync(directory.accounts.linked(found[1])) == account


def test_quickstart_leaves_existing_accounts_alone(directory: CommandLine) -> None:
    directory.succeed("account", "add", "ann@example.org")
    text = directory.succeed("quickstart")
    assert "invitation" not in text
    assert "has no operator" in text
    assert "\n  directory-server account add --role operator you@example.org\n" in text
    directory.succeed("account", "role", "ann@example.org", "operator")
    assert "directory-server account reset ann@example.org\n" in directory.succeed("quickstart")


def test_quickstart_repeats_the_options_of_its_command_line(
    directory: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [".venv/bin/directory-server", "--data-dir", "my data", "quickstart"])
    directory.succeed("quickstart")
    command = ".venv/bin/directory-server --data-dir 'my data'"
    assert f"\n  {command} key create --label laptop\n" in directory.succeed("quickstart")


def test_quickstart_for_a_unix_socket_names_the_address_of_the_proxy(directory: CommandLine) -> None:
    text = directory.succeed("--set", "listen=unix:/run/directory.sock", "quickstart")
    assert "http://ADDRESS/api/open/mcp" in text
    assert "ADDRESS is the address of your proxy or systemd socket." in text
    assert "ADDRESS" not in directory.succeed("quickstart")


def test_quickstart_prints_the_url_of_public_pages(directory: CommandLine) -> None:
    assert "browser" not in directory.succeed("quickstart")
    assert "In a browser:  http://127.0.0.1:8080/\n" in directory.succeed("--set", "web.search=public", "quickstart")


@pytest.mark.parametrize(
    ("search", "guide"), [("accounts", "http://127.0.0.1:8080/docs/connect"), ("off", "docs/connect.md")]
)
def test_quickstart_names_a_guide_that_is_served(directory: CommandLine, search: str, guide: str) -> None:
    assert f"(other editors: {guide}):" in directory.succeed("--set", f"web.search={search}", "quickstart")


def test_quickstart_uses_the_url_of_the_settings(directory: CommandLine) -> None:
    message = directory.succeed("--set", "web.url=https://directory.example.org/", "quickstart")
    assert "MCP endpoint:  https://directory.example.org/api/open/mcp\n" in message
    assert "\n  https://directory.example.org/account/invitation/" in message


def test_quickstart_keeps_existing_entries(directory: CommandLine) -> None:
    directory.succeed("import", "-", stdin=entry_line("a.example/one"))
    assert "MCP directory server: 1 entry" in directory.succeed("quickstart")


@pytest.mark.parametrize("interface", [":interface=127.0.0.1", ""])
def test_quickstart_fails_before_any_change_if_the_port_is_in_use(tmp_path: Path, interface: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        listen = f"tcp:{other.getsockname()[1]}{interface}"
        arguments = ["--data-dir", str(tmp_path / "data"), "--set", f"listen={listen}", "quickstart", "--check-ports"]
        result = CliRunner().invoke(main, arguments)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith(
            f"Error: Cannot listen on {listen}: Address already in use. Choose another port"
        )
        assert not (tmp_path / "data").exists()
    assert CliRunner().invoke(main, arguments).exit_code == 0
