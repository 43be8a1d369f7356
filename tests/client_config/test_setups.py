"""Setups of editors: formats, secrets outside of files, variables that a publisher cannot choose."""

from __future__ import annotations

import re
from typing import Any

import pytest

from directory_server.client_config import InstallOption, Setup, Setups, install_options, installations
from directory_server.domain.entries import mcp_id_of
from tests.texts import texts

from .builders import SECRET, named, package, positional, remote

NAME = "io.github.a/b"
KEY = "a-b-" + mcp_id_of(NAME)[-12:]
VARIABLE = f"MCP_{mcp_id_of(NAME)[-12:].upper()}"

EDITORS = ["vscode", "cursor", "claude-code", "claude-desktop", "codex", "gemini", "windsurf", "zed", "jetbrains"]


def options_of(*packages: Any, remotes: Any = (), name: str = NAME) -> tuple[InstallOption, ...]:
    return install_options(name, mcp_id_of(name), packages, remotes)


def setups_of(*packages: Any, remotes: Any = (), name: str = NAME) -> Setups:
    [option] = options_of(*packages, remotes=remotes, name=name)
    assert option.setups is not None, option.unavailable
    return option.setups


def by_id(setups: Setups) -> dict[str, Setup]:
    return {each.id: each for each in setups.setups}


def server_of(setup: Setup) -> Any:
    """Return what the configuration has for the server."""
    [found] = next(value for name, value in setup.config.items() if name != "inputs").values()
    return found


def header(value: str, **members: Any) -> dict[str, Any]:
    return {"name": "Authorization", "value": value, "variables": {"token": {"isSecret": True, **members}}}


def test_every_editor_gets_a_local_server_in_its_format() -> None:
    found = by_id(setups_of(package(version="1.0.0")))
    assert list(found) == [*EDITORS, "others"]
    body = {"command": "npx", "args": ["-y", "@a/b@1.0.0"]}
    plain = {"mcpServers": {KEY: body}}
    typed = {"mcpServers": {KEY: {"type": "stdio", **body}}}
    assert {name: each.config for name, each in found.items()} == {
        "vscode": {"servers": {KEY: {"type": "stdio", **body}}},
        "cursor": plain,
        "claude-code": typed,
        "claude-desktop": plain,
        "codex": {"mcp_servers": {KEY: body}},
        "gemini": plain,
        "windsurf": plain,
        "zed": {"context_servers": {KEY: body}},
        "jetbrains": plain,
        "others": typed,
    }
    assert [name for name, each in found.items() if each.is_toml] == ["codex"]
    assert {each.secrets for each in found.values()} == {""}


def test_the_setups_agree_with_the_detail_record() -> None:
    sources = [package(environmentVariables=[{"name": "REGION", "isRequired": True}]), package("nothing")]
    for option, installation in zip(
        options_of(*sources), installations(NAME, mcp_id_of(NAME), sources, ()), strict=True
    ):
        assert (option.kind, option.name, option.warnings) == (
            installation.kind,
            installation.name,
            installation.warnings,
        )
        assert option.unavailable == installation.unavailable
        if option.setups is not None:
            expected = {each.editor: each.config for each in installation.configurations}
            assert {each.name: each.config for each in option.setups.setups if each.name in expected} == expected


def test_urls_have_the_member_that_each_editor_reads() -> None:
    found = by_id(setups_of(remotes=[remote()]))
    members = {name: set(server_of(each)) for name, each in found.items()}
    assert members == {
        "vscode": {"type", "url"},
        "cursor": {"url"},
        "claude-code": {"type", "url"},
        "codex": {"url"},
        "gemini": {"httpUrl"},
        "windsurf": {"serverUrl"},
        "zed": {"url"},
        "jetbrains": {"url"},
        "others": {"type", "url"},
    }


def test_editors_that_cannot_use_a_server_are_named_with_the_reason() -> None:
    found = setups_of(remotes=[remote()])
    assert [(each.name, each.reason) for each in found.missing] == [("Claude Desktop", "remote")]
    found = setups_of(remotes=[remote(type="sse")])
    assert [(each.name, each.reason) for each in found.missing] == [
        ("Claude Desktop", "remote"),
        ("Codex", "sse"),
        ("Zed", "sse"),
    ]
    assert server_of(by_id(found)["gemini"]) == {"url": "https://a.example/mcp"}
    assert setups_of(package()).missing == []


def test_secrets_of_a_local_server_are_outside_of_files_where_the_editor_allows_it() -> None:
    found = by_id(setups_of(package(environmentVariables=[SECRET])))
    values = {name: server_of(each)["env"]["API_KEY"] for name, each in found.items()}
    own = f"{VARIABLE}_API_KEY"
    assert values == {
        "vscode": f"${{input:a-b-{mcp_id_of(NAME)}-API_KEY}}",
        "cursor": f"${{env:{own}}}",
        "claude-code": f"${{{own}}}",
        "claude-desktop": "<API_KEY>",
        "codex": "<API_KEY>",
        "gemini": f"${{{own}}}",
        "windsurf": f"${{env:{own}}}",
        "zed": "<API_KEY>",
        "jetbrains": "<API_KEY>",
        "others": "<API_KEY>",
    }
    assert {name: each.secrets for name, each in found.items()} == {
        "vscode": "prompt",
        **dict.fromkeys(("cursor", "claude-code", "gemini", "windsurf"), "variable"),
        **dict.fromkeys(("claude-desktop", "codex", "zed", "jetbrains", "others"), "file"),
    }


def test_codex_reads_secrets_of_headers_from_variables() -> None:
    key = {"name": "X-Key", "isRequired": True, "isSecret": True}
    fixed = {"name": "X-Region", "value": "eu"}
    found = by_id(setups_of(remotes=[remote(headers=[header("Bearer {token}"), key, fixed])]))["codex"]
    assert server_of(found) == {
        "url": "https://a.example/mcp",
        "bearer_token_env_var": f"{VARIABLE}_TOKEN",
        "http_headers": {"X-Region": "eu"},
        "env_http_headers": {"X-Key": f"{VARIABLE}_X_KEY"},
    }
    assert found.secrets == "variable"


@pytest.mark.parametrize("value", ["Basic {token}", "Bearer x{token}", "{token} y"])
def test_codex_warns_of_secrets_that_are_a_part_of_a_text(value: str) -> None:
    found = by_id(setups_of(remotes=[remote(headers=[header(value)])]))["codex"]
    assert found.secrets == "file"
    assert server_of(found)["http_headers"] == {"Authorization": value.replace("{token}", "<token>")}


def test_a_secret_in_a_url_is_a_reference_too() -> None:
    found = by_id(setups_of(remotes=[remote("https://a.example/{key}/mcp", variables={"key": {"isSecret": True}})]))
    assert server_of(found["cursor"])["url"] == f"https://a.example/${{env:{VARIABLE}_KEY}}/mcp"
    assert found["codex"].secrets == "file"


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "apiKey", "DB_PASSWORD", "client_secret", "Authorization"])
def test_values_named_like_secrets_are_secret(name: str) -> None:
    found = setups_of(package(environmentVariables=[{"name": name, "isRequired": True}]))
    assert [each.secret for each in found.inputs] == [True]
    [prompt] = by_id(found)["vscode"].config["inputs"]
    assert prompt["password"] is True


def test_other_values_are_placeholders_and_the_links_of_incomplete_servers_are_left_out() -> None:
    found = setups_of(package(environmentVariables=[{"name": "REGION", "isRequired": True}]))
    setups = by_id(found)
    assert server_of(setups["cursor"])["env"] == {"REGION": "<REGION>"}
    assert setups["cursor"].cursor_link is None
    assert setups["claude-code"].command == ()
    # VS Code asks for the value.
    assert setups["vscode"].vscode_link is not None
    assert [(each.name, each.secret, each.variable, each.is_used) for each in found.inputs] == [
        ("REGION", False, "", True)
    ]


def test_optional_values_are_listed_as_left_out() -> None:
    found = setups_of(package(environmentVariables=[{"name": "REGION", "description": "Where."}]))
    assert [(each.name, each.description, each.is_used) for each in found.inputs] == [("REGION", "Where.", False)]
    assert "REGION" not in texts([each.config for each in found.setups])


@pytest.mark.parametrize("name", ["AWS_SECRET_ACCESS_KEY", "HOME_TOKEN", "a-b_TOKEN", "MCP_000000000000_TOKEN"])
def test_a_publisher_cannot_name_a_variable_that_the_user_has(name: str) -> None:
    found = setups_of(
        package(environmentVariables=[{"name": name, "isRequired": True, "isSecret": True}]),
        name="evil.example/reader",
    )
    own = "MCP_" + mcp_id_of("evil.example/reader")[-12:].upper()
    references = [
        each
        for setup in found.setups
        for text in texts([setup.config, setup.vscode_link, setup.cursor_link, setup.command])
        for each in re.findall(r"\$(?!\{input:)\{?(?:env:)?([^}]*)", text)
    ]
    assert references
    assert {each.startswith(f"{own}_") for each in references} == {True}


def test_servers_have_different_variables() -> None:
    one, other = (
        setups_of(package(environmentVariables=[SECRET]), name=name).inputs[0].variable
        for name in ("com.github/mcp", "io.github.evil/github")
    )
    assert one != other


def test_inputs_whose_names_differ_in_punctuation_have_different_variables() -> None:
    names = ("a-token", "a_token", "A_TOKEN")
    found = setups_of(
        package(environmentVariables=[{"name": name, "isRequired": True, "isSecret": True} for name in names])
    )
    assert len({each.variable for each in found.inputs}) == 3
    assert all(re.fullmatch(r"MCP_[0-9A-F]{12}_[A-Z0-9_]+", each.variable) for each in found.inputs)


def test_the_command_of_a_local_server_puts_options_before_the_name() -> None:
    found = by_id(
        setups_of(
            package(
                version="1.0.0",
                environmentVariables=[SECRET, {"name": "LOG_FORMAT", "value": "json"}],
                packageArguments=[named("--mode", "read only"), positional("x")],
            )
        )
    )
    assert list(found["claude-code"].command) == [
        *("claude", "mcp", "add", "--env", f"API_KEY=${{{VARIABLE}_API_KEY}}", "--env", "LOG_FORMAT=json"),
        *("--scope", "project", "--transport", "stdio", KEY, "--"),
        *("npx", "-y", "@a/b@1.0.0", "--mode", "read only", "x"),
    ]


def test_links_contain_the_server_of_the_file() -> None:
    found = by_id(setups_of(package(environmentVariables=[SECRET])))
    vscode, cursor = found["vscode"], found["cursor"]
    assert vscode.vscode_link == {"name": KEY, **server_of(vscode), "inputs": vscode.config["inputs"]}
    assert cursor.cursor_link == (KEY, server_of(cursor))
    assert [name for name, each in found.items() if each.vscode_link or each.cursor_link] == ["vscode", "cursor"]


@pytest.mark.parametrize(
    "members",
    [
        {"packageArguments": [positional("touch")]},
        {"environmentVariables": [SECRET, {"name": "OPENAI_BASE_URL", "value": "https://evil.example/v1"}]},
    ],
)
def test_a_server_that_needs_a_review_has_no_install_link(members: Any) -> None:
    found = setups_of(package(**members))
    assert found.needs_review
    assert [each.id for each in found.setups if each.vscode_link or each.cursor_link] == []
    assert by_id(found)["vscode"].config
