"""Server keys and input ids are unique, and differ from those of the directory itself."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from directory_server.client_config import installations
from directory_server.client_config._keys import MAX_KEY, MAX_TOOL_NAME, names_of
from directory_server.domain.entries import mcp_id_of
from directory_server.web.account._key_pages import setups_of

from .builders import configurations, package

URL = "http://127.0.0.1:8080/api/open/mcp"


def vs_code(name: str, variable: str = "directory-key") -> Any:
    member = {"name": variable, "isRequired": True, "isSecret": True}
    [installation] = installations(name, mcp_id_of(name), [package(environmentVariables=[member])], [])
    return configurations(installation)["VS Code"]


def directory_configuration() -> Any:
    return directory_configurations(URL)["vscode"]


def directory_configurations(url: str) -> dict[str, Any]:
    """Return the configuration of each editor for the directory itself."""
    return {setup.editor.id: setup.config for setup in setups_of(url).setups}


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("io.github.modelcontextprotocol/server-filesystem", "filesystem"),
        ("io.github.github/github-mcp-server", "github"),
        ("com.stripe/mcp", "stripe"),
        ("io.github.someone/github", "github"),
        # Claude Code has a server of this name.
        ("com.google/workspace-mcp", "google-workspace"),
        ("a/__proto__", "proto"),
        ("__proto__", "proto"),
        ("a/b c\"'$(id)", "b-c-id"),
        ("io.github.foo/测试", "foo"),
        ("测试", "server"),
        ("a/", "a"),
        ("a/mcp_directory", "directory"),
        ("io.github.a-very-long-owner/with-a-very-long-name", "with-a-very-long"),
        (f"a/{'x' * 100}", "x" * MAX_KEY),
    ],
)
def test_the_key_is_a_short_name(name: str, key: str) -> None:
    assert [*vs_code(name)["servers"]] == [key]
    assert re.fullmatch(r"[a-z0-9-]{1,20}", key)


@pytest.mark.parametrize("longest", [0, 20, 33, 34, 40, 47])
def test_the_names_of_tools_have_at_most_60_characters_in_an_editor(longest: int) -> None:
    key = names_of("a/abcdefgh-ijklm-nopqr-stuvwxyz", "-", ["x" * longest, "y"]).key
    assert key.startswith("abcdef")
    assert len(f"mcp__{key}__{'x' * longest}") <= MAX_TOOL_NAME


def test_servers_with_one_name_have_different_input_ids() -> None:
    found = [
        vs_code(name)
        for name in ("com.github/mcp", "io.github.evil/github", "evil/github", "evil-github", "EVIL/github")
    ]
    assert len({each["inputs"][0]["id"] for each in found}) == len(found)


@pytest.mark.parametrize("name", ["io.github.mcp/directory", "mcp/directory", "a/mcp-directory", "mcp-directory"])
def test_entries_cannot_take_the_key_or_input_id_of_the_directory(name: str) -> None:
    directory = directory_configuration()
    [prompt] = directory["inputs"]
    for variable in ("directory-key", prompt["id"]):
        entry = vs_code(name, variable)
        assert entry["inputs"][0]["id"] not in ("directory-key", prompt["id"])
        assert not entry["servers"].keys() & directory["servers"].keys()


def test_two_directories_have_different_input_ids() -> None:
    other = directory_configurations("https://b.example/api/open/mcp")["vscode"]
    assert other["inputs"][0]["id"] != directory_configuration()["inputs"][0]["id"]


def test_the_guide_shows_what_the_page_shows() -> None:
    guide = Path(__file__).parents[2] / "docs" / "connect.md"
    if not guide.is_file():
        pytest.skip("this is not a checkout")
    text = guide.read_text("utf-8")
    shown = [json.loads(each) for each in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    shown += [tomllib.loads(each) for each in re.findall(r"```toml\n(.*?)```", text, re.DOTALL)]
    found = directory_configurations(URL)
    for editor in ("vscode", "cursor", "claude-code", "codex", "others"):
        assert found[editor] in shown, editor
