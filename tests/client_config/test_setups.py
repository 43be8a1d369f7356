"""Setups of editors: formats, secrets outside of files, variables that a publisher cannot choose."""

from __future__ import annotations

import re
from typing import Any

import pytest

from directory_server.client_config import InstallOption, Setup, Setups, install_options, installations
from directory_server.domain.entries import mcp_id_of
from tests.strategies import texts

from .builders import SECRET, named, package, positional, remote

NAME = "io.github.a/b"
KEY = "b"
VARIABLE = f"MCP_{mcp_id_of(NAME)[-12:].upper()}"

PLAIN = ["cursor", "claude-desktop", "gemini", "qwen", "windsurf", "jetbrains", "cline", "roo", "kiro", "lmstudio"]
"""Editors whose file has a local server in the object `mcpServers`, without a type."""


def options_of(*packages: Any, remotes: Any = (), name: str = NAME) -> tuple[InstallOption, ...]:
    return install_options(name, mcp_id_of(name), packages, remotes)


def setups_of(*packages: Any, remotes: Any = (), name: str = NAME) -> Setups:
    [option] = options_of(*packages, remotes=remotes, name=name)
    assert option.setups is not None, option.unavailable
    return option.setups


def by_id(setups: Setups) -> dict[str, Setup]:
    return {each.editor.id: each for each in setups.setups}


def server_of(setup: Setup) -> Any:
    """Return what the configuration has for the server."""
    [found] = next(value for name, value in setup.config.items() if name not in ("inputs", "$schema")).values()
    return found


def header(value: str, **members: Any) -> dict[str, Any]:
    return {"name": "Authorization", "value": value, "variables": {"token": {"isSecret": True, **members}}}


def test_every_editor_gets_a_local_server_in_its_format() -> None:
    found = by_id(setups_of(package(version="1.0.0")))
    command = ["npx", "-y", "@a/b@1.0.0"]
    body = {"command": command[0], "args": command[1:]}
    typed = {"mcpServers": {KEY: {"type": "stdio", **body}}}
    visual = {"servers": {KEY: {"type": "stdio", **body}}}
    goose = {"enabled": True, "name": KEY, "description": "", "type": "stdio", "cmd": "npx", "args": command[1:]}
    assert {name: each.config for name, each in found.items()} == {
        **{name: {"mcpServers": {KEY: body}} for name in PLAIN},
        **dict.fromkeys(("claude-code", "continue", "others"), typed),
        **dict.fromkeys(("vscode", "visual-studio"), visual),
        "codex": {"mcp_servers": {KEY: body}},
        "zed": {"context_servers": {KEY: body}},
        "opencode": {
            "$schema": "https://opencode.ai/config.json",
            "mcp": {KEY: {"type": "local", "command": command}},
        },
        "goose": {"extensions": {KEY: {**goose, "timeout": 300}}},
    }
    assert {name: each.editor.form for name, each in found.items() if each.editor.form != "json"} == {
        "codex": "toml",
        "goose": "yaml",
    }
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
            shown = {each.editor.name: each.config for each in option.setups.setups}
            assert {name: config for name, config in shown.items() if name in expected} == expected


def test_urls_have_the_member_that_each_editor_reads() -> None:
    found = by_id(setups_of(remotes=[remote()]))
    members = {name: set(server_of(each)) for name, each in found.items()}
    assert members == {
        **{name: {"type", "url"} for name in ("vscode", "claude-code", "visual-studio", "cline", "roo", "continue")},
        **{name: {"url"} for name in ("cursor", "codex", "zed", "jetbrains", "kiro", "lmstudio")},
        **{name: {"httpUrl"} for name in ("gemini", "qwen")},
        "claude-desktop": {"command", "args"},
        "windsurf": {"serverUrl"},
        "opencode": {"type", "url"},
        "goose": {"enabled", "name", "description", "type", "uri", "timeout"},
        "others": {"type", "url"},
    }
    kinds = {name: server_of(each).get("type") for name, each in found.items()}
    assert {kinds[name] for name in ("vscode", "claude-code", "continue", "others")} == {"http"}
    assert (kinds["cline"], kinds["roo"], kinds["goose"]) == ("streamableHttp", "streamable-http", "streamable_http")


def test_editors_that_cannot_use_a_server_are_named_with_the_reason() -> None:
    assert setups_of(remotes=[remote()]).missing == []
    found = setups_of(remotes=[remote(type="sse")])
    assert [(each.editor.name, each.reason) for each in found.missing] == [
        ("Codex", "sse"),
        ("Zed", "sse"),
        ("Goose", "sse"),
    ]
    assert server_of(by_id(found)["gemini"]) == {"url": "https://a.example/mcp"}
    # The command interpreter of Windows would read a part of it as a command.
    found = setups_of(remotes=[remote("https://a.example/mcp?a=1&b=2")])
    assert [(each.editor.name, each.reason) for each in found.missing] == [("Claude Desktop", "address")]
    assert setups_of(package()).missing == []


def test_claude_desktop_reaches_a_remote_server_through_a_package() -> None:
    headers = [header("Bearer {token}"), {"name": "NODE_OPTIONS", "value": "--require x"}]
    found = by_id(setups_of(remotes=[remote("http://192.168.1.2/mcp", headers=headers)]))["claude-desktop"]
    assert server_of(found) == {
        "command": "npx",
        "args": [
            *("-y", "mcp-remote@latest", "http://192.168.1.2/mcp", "--allow-http"),
            *("--header", "Authorization:${HEADER_1}", "--header", "NODE_OPTIONS:${HEADER_2}"),
        ],
        # A publisher cannot name a variable of the program.
        "env": {"HEADER_1": "Bearer <token>", "HEADER_2": "--require x"},
    }
    assert found.secrets == "file"


def test_each_way_of_installation_is_offered_once_and_sse_only_without_another_url() -> None:
    http, sse = remote(), remote(type="sse")
    assert [option.kind for option in options_of(package(), package(), remotes=[http, sse, http])] == [
        "streamable-http",
        "npm",
    ]
    assert [option.kind for option in options_of(remotes=[sse])] == ["sse"]


def test_secrets_of_a_local_server_are_outside_of_files_where_the_editor_allows_it() -> None:
    found = by_id(setups_of(package(environmentVariables=[SECRET])))
    own = f"{VARIABLE}_API_KEY"
    member = {"opencode": "environment", "goose": "envs"}
    values = {name: server_of(each)[member.get(name, "env")]["API_KEY"] for name, each in found.items()}
    prompt = f"${{input:{mcp_id_of(NAME).replace('-', '')[-20:]}-API_KEY}}"
    in_file = ("claude-desktop", "codex", "zed", "jetbrains", "cline", "continue", "goose", "lmstudio", "others")
    assert values == {
        **dict.fromkeys(("vscode", "visual-studio"), prompt),
        **dict.fromkeys(("cursor", "windsurf", "roo"), f"${{env:{own}}}"),
        **dict.fromkeys(("claude-code", "gemini", "qwen", "kiro"), f"${{{own}}}"),
        "opencode": f"{{env:{own}}}",
        **dict.fromkeys(in_file, "<API_KEY>"),
    }
    assert {name for name, each in found.items() if each.secrets == "prompt"} == {"vscode", "visual-studio"}
    assert {name for name, each in found.items() if each.secrets == "file"} == {*in_file}
    assert {each.secrets for each in found.values()} == {"prompt", "variable", "file"}


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
    assert setups["cursor"].link is None
    assert setups["lmstudio"].link is None
    assert setups["claude-code"].command == ()
    # VS Code asks for the value.
    assert setups["vscode"].link is not None
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
        for text in texts([setup.config, list(setup.link or ()), list(setup.command)])
        for each in re.findall(r"\$(?!\{input:|schema)\{?(?:env:)?([^}]*)|\{env:([^}]*)", text)
    ]
    assert references
    assert {"".join(each).startswith(f"{own}_") for each in references} == {True}


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
    command = ["npx", "-y", "@a/b@1.0.0", "--mode", "read only", "x"]
    for editor, program in (("claude-code", "claude"), ("gemini", "gemini"), ("qwen", "qwen")):
        assert list(found[editor].command) == [
            *(program, "mcp", "add", "--scope", "user", "--env", f"API_KEY=${{{VARIABLE}_API_KEY}}"),
            *("--env", "LOG_FORMAT=json", "--transport", "stdio", KEY, "--", *command),
        ]
    # Codex would store the secret in its file.
    assert found["codex"].command == ()


def test_codex_has_a_command_if_its_options_can_say_everything() -> None:
    assert list(by_id(setups_of(package(version="1.0.0")))["codex"].command) == [
        *("codex", "mcp", "add", KEY, "--", "npx", "-y", "@a/b@1.0.0"),
    ]
    found = by_id(setups_of(remotes=[remote(headers=[header("Bearer {token}")])]))["codex"]
    assert list(found.command) == [
        *("codex", "mcp", "add", KEY, "--url", "https://a.example/mcp"),
        *("--bearer-token-env-var", f"{VARIABLE}_TOKEN"),
    ]
    assert by_id(setups_of(remotes=[remote(headers=[{"name": "X-A", "value": "b"}])]))["codex"].command == []


def test_vs_code_has_a_command_with_the_server_of_the_link() -> None:
    found = by_id(setups_of(package(environmentVariables=[SECRET])))["vscode"]
    assert found.link is not None
    assert list(found.command[:2]) == ["code", "--add-mcp"]
    assert found.command[2] == found.link[1]


def test_links_contain_the_server_of_the_file() -> None:
    found = by_id(setups_of(package(environmentVariables=[SECRET])))
    vscode, cursor = found["vscode"], found["cursor"]
    assert vscode.link == (KEY, {"name": KEY, **server_of(vscode), "inputs": vscode.config["inputs"]})
    assert cursor.link == (KEY, server_of(cursor))
    # LM Studio has no references: the user must put the secret into the file.
    assert found["lmstudio"].link is None
    complete = by_id(setups_of(package()))["lmstudio"]
    assert complete.link == (KEY, server_of(complete))


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
    assert [each.editor.id for each in found.setups if each.link] == []
    assert by_id(found)["vscode"].command == []
    assert by_id(found)["vscode"].config
