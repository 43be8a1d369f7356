"""Server keys and input ids are unique, and differ from those of the directory itself."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from directory_server.client_config import installations
from directory_server.domain.entries import mcp_id_of
from directory_server.web.account._connect_page import setups_view

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
    read = {"codex": tomllib.loads}
    return {each.id: read.get(each.id, json.loads)(each.text) for each in setups_view(url).editors}


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("io.github.github/github-mcp-server", "github"),
        ("com.stripe/mcp", "stripe-mcp"),
        ("io.github.someone/github", "someone-github"),
        ("a/__proto__", "a-proto"),
        ("__proto__", "proto"),
        ("a/b c\"'$(id)", "a-b-c-id"),
        ("测试", "server"),
        ("a/", "a"),
        ("io.github.a-very-long-owner/with-a-very-long-name", "a-very-lon-with-a-ve"),
    ],
)
def test_server_key_has_the_owner_and_a_part_of_the_id(name: str, slug: str) -> None:
    [key] = vs_code(name)["servers"]
    assert key == f"{slug}-{mcp_id_of(name)[-12:]}"
    assert re.fullmatch(r"[a-z0-9_-]{1,33}", key)


def test_servers_with_one_name_have_different_keys_and_input_ids() -> None:
    found = [
        vs_code(name)
        for name in ("com.github/mcp", "io.github.evil/github", "evil/github", "evil-github", "EVIL/github")
    ]
    assert len({next(iter(each["servers"])) for each in found}) == len(found)
    assert len({each["inputs"][0]["id"] for each in found}) == len(found)


@pytest.mark.parametrize("name", ["io.github.mcp/directory", "mcp/directory", "a/mcp-directory", "mcp-directory"])
def test_entries_cannot_take_the_key_or_input_id_of_the_directory(name: str) -> None:
    directory = directory_configuration()
    [prompt] = directory["inputs"]
    for variable in ("directory-key", prompt["id"]):
        entry = vs_code(name, variable)
        assert entry["inputs"][0]["id"] not in ("directory-key", prompt["id"])
        assert not entry["servers"].keys() & directory["servers"].keys()


def test_input_id_has_the_whole_mcp_id() -> None:
    config = vs_code("io.github.a/b", "TOKEN")
    mcp_id = mcp_id_of("io.github.a/b")
    assert config["inputs"][0]["id"] == f"a-b-{mcp_id}-TOKEN"
    [body] = config["servers"].values()
    assert body["env"] == {"TOKEN": f"${{input:a-b-{mcp_id}-TOKEN}}"}


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
