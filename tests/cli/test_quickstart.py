"""`directory-server quickstart`: sample catalogue, first key and instructions."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from directory_server.cli.main import main
from directory_server.run_sync import run_sync

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
    configuration = json.loads(first[first.index("{") :])
    server = configuration["mcpServers"]["mcp-directory"]
    assert server["url"] == "http://127.0.0.1:8080/api/open/mcp"
    assert server["headers"]["Authorization"] == f"Bearer {found[1]}"

    second = directory.succeed("--set", "listen=tcp:9090", "quickstart")
    assert "mcpd_" not in second
    assert "http://127.0.0.1:9090/api/open/mcp" in second
    assert (directory.entries(), len(directory.all_keys())) == (entries, 1)


def test_quickstart_prints_the_url_of_public_pages(directory: CommandLine) -> None:
    assert "browser" not in directory.succeed("quickstart")
    assert "In a browser:  http://127.0.0.1:8080/\n" in directory.succeed("--set", "web.search=public", "quickstart")


def test_quickstart_uses_the_url_of_the_settings(directory: CommandLine) -> None:
    message = directory.succeed("--set", "web.url=https://directory.example.org/", "quickstart")
    configuration = json.loads(message[message.index("{") :])
    assert configuration["mcpServers"]["mcp-directory"]["url"] == "https://directory.example.org/api/open/mcp"
    assert "REST search:   https://directory.example.org/api/open/v1/search\n" in message


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
