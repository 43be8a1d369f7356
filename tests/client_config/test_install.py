from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server import serialization
from directory_server.client_config import MAX_SOURCES, installations
from directory_server.client_config._server_config import MAX_PLACEHOLDERS, Inputs
from directory_server.domain.entries import mcp_id_of
from directory_server.sanitize import clean

from .builders import SECRET, STDIO, configs, only, package, remote, server, ways


@pytest.mark.parametrize(
    ("said", "command", "arguments"),
    [
        (package(), "npx", ["-y", "@a/b@latest"]),
        (package(version="1.2.3"), "npx", ["-y", "@a/b@1.2.3"]),
        (package("pypi", "a-b", version="1.0"), "uvx", ["a-b@1.0"]),
        (package("oci", "a/b", version="1.0"), "docker", ["run", "-i", "--rm", "a/b:1.0"]),
        (package("oci", "ghcr.io/a/b:2", version="1"), "docker", ["run", "-i", "--rm", "ghcr.io/a/b:2"]),
        (package("oci", "a/b", registryBaseUrl="https://ghcr.io"), "docker", ["run", "-i", "--rm", "ghcr.io/a/b"]),
        (package("nuget", "A.B", version="1.0.0"), "dnx", ["A.B@1.0.0", "--yes", "--"]),
    ],
)
def test_runner_of_each_registry(said: Any, command: str, arguments: list[str]) -> None:
    assert server(only(said)) == {"command": command, "args": arguments}


def test_command_in_each_editor_format() -> None:
    way = only(package(environmentVariables=[SECRET]))
    body = {"command": "npx", "args": ["-y", "@a/b@latest"]}
    filled = {"env": {"API_KEY": "<API_KEY>"}}
    mcp_id = mcp_id_of("io.github.a/b")
    key, prefix = f"a-b-{mcp_id[-12:]}", f"a-b-{mcp_id}"
    assert configs(way) == {
        "VS Code": {
            "inputs": [
                {"type": "promptString", "id": f"{prefix}-API_KEY", "description": "Your key", "password": True}
            ],
            "servers": {key: {"type": "stdio", **body, "env": {"API_KEY": f"${{input:{prefix}-API_KEY}}"}}},
        },
        "Cursor": {"mcpServers": {key: {**body, **filled}}},
        "Claude Code": {"mcpServers": {key: {"type": "stdio", **body, **filled}}},
        "Windsurf": {"mcpServers": {key: {**body, **filled}}},
        "Others": {"mcpServers": {key: {"type": "stdio", **body, **filled}}},
    }


def test_url_in_each_editor_format() -> None:
    bearer = {"name": "Authorization", "value": "Bearer {token}", "variables": {"token": {"isSecret": True}}}
    way = only(remotes=[remote(headers=[bearer])])
    filled = {"headers": {"Authorization": "Bearer <token>"}}
    assert server(way, "VS Code") == {
        "type": "http",
        "url": "https://a.example/mcp",
        "headers": {"Authorization": f"Bearer ${{input:a-b-{mcp_id_of('io.github.a/b')}-token}}"},
    }
    assert configs(way)["VS Code"]["inputs"][0]["password"] is True
    assert server(way, "Cursor") == {"url": "https://a.example/mcp", **filled}
    assert server(way, "Windsurf") == {"serverUrl": "https://a.example/mcp", **filled}
    assert server(way, "Claude Code") == {"type": "http", "url": "https://a.example/mcp", **filled}
    assert server(only(remotes=[{**remote(), "type": "sse"}]), "Claude Code")["type"] == "sse"


def test_optional_inputs_are_listed_and_omitted() -> None:
    way = only(package(environmentVariables=[{**SECRET, "isRequired": False}]))
    assert "env" not in server(way)
    assert "inputs" not in configs(way)["VS Code"]
    assert [(each.name, each.required, each.secret) for each in way.inputs] == [("API_KEY", False, True)]


def test_secrets_are_required_by_default() -> None:
    way = only(package(environmentVariables=[{"name": "TOKEN", "isSecret": True}]))
    assert server(way)["env"] == {"TOKEN": "<TOKEN>"}


def test_docker_passes_the_variables() -> None:
    arguments = server(only(package("oci", "a/b", environmentVariables=[SECRET])))["args"]
    assert arguments == ["run", "-i", "--rm", "-e", "API_KEY", "a/b"]


def test_order_of_arguments() -> None:
    way = only(
        package(
            runtimeArguments=[
                {"type": "positional", "value": "-y"},
                {"type": "named", "name": "--package", "value": "@a/b"},
            ],
            packageArguments=[
                {"type": "positional", "value": "serve"},
                {"type": "named", "name": "--port", "default": 8080},
                {"type": "named", "name": "--root", "valueHint": "directory", "isRequired": True},
                {"type": "named", "name": "--mode", "choices": ["a", "b"], "isRequired": True},
                {"type": "named", "name": "--debug", "format": "boolean"},
                {"type": "positional", "valueHint": "more"},
            ],
        )
    )
    assert server(way)["args"] == [
        "-y",
        "@a/b@latest",
        "serve",
        "--port",
        "8080",
        "--root",
        "<directory>",
        "--mode",
        "<mode>",
    ]
    assert [each["type"] for each in configs(way)["VS Code"]["inputs"]] == ["promptString", "pickString"]


def test_two_inputs_with_one_name_are_separate() -> None:
    mount = {"type": "named", "name": "--mount", "value": "type=bind,src={path},dst=/data"}
    said = [{**mount, "variables": {"path": {"description": what}}} for what in ("Data", "Settings", "Data")]
    assert server(only(package("oci", "a/b", runtimeArguments=said)))["args"][3:-1] == [
        *("--mount", "type=bind,src=<path>,dst=/data"),
        *("--mount", "type=bind,src=<path-2>,dst=/data"),
        *("--mount", "type=bind,src=<path>,dst=/data"),
    ]


def test_reference_of_a_publisher_becomes_an_input() -> None:
    header = {"name": "X", "value": "${TOKEN}"}
    assert server(only(remotes=[remote(headers=[header])]))["headers"] == {"X": "<TOKEN>"}


@pytest.mark.parametrize(
    "hostile",
    [
        package(identifier="--help"),
        package(identifier="a; rm -rf ~"),
        package(identifier="$(id)"),
        package(identifier="../evil"),
        package(identifier="https://evil.example/a.tgz"),
        package(identifier="a@npm:evil"),
        package(registryBaseUrl="https://evil.example"),
        package(registryBaseUrl="https://registry.npmjs.org.evil.example"),
        package("bash", "-c"),
        package("mcpb", "https://a.example/a.mcpb"),
        package("oci", "--privileged"),
        package(environmentVariables=[{"name": "A=B", "value": "c"}]),
        package(environmentVariables=[{"name": "A", "value": "${env:AWS_SECRET_ACCESS_KEY}"}]),
        package(packageArguments=[{"type": "positional", "value": "a\nb"}]),
        package(packageArguments=[{"type": "positional", "value": "\u202etxt.exe"}]),
        package(packageArguments=[{"type": "positional", "value": "a" * 1_000_000}]),
        package(packageArguments=[{"type": "positional", "value": "a"}] * 1_000),
        package(packageArguments=[{"type": "positional", "value": "${workspaceFolder:-x}"}]),
        package(
            packageArguments=[{"type": "positional", "value": "$${a}", "variables": {"a": {"value": "{env:HOME}"}}}]
        ),
        {**package(), "transport": {"type": "streamable-http", "url": "http://localhost:3000/mcp"}},
        package(packageArguments=[{"type": "positional", "value": "$HOME"}]),
        package(packageArguments=[{"type": "positional", "value": "%USERPROFILE%"}]),
        package(packageArguments=[{"type": "positional", "value": "{file:~/.ssh/id_rsa}"}]),
        package(environmentVariables=[{"name": "NPM_CONFIG_REGISTRY", "value": "https://evil.example"}]),
        package(environmentVariables=[{"name": "node_options", "value": "--require=/tmp/a.js"}]),
        package("pypi", "a", environmentVariables=[{"name": "UV_INDEX_URL", "default": "https://evil.example"}]),
        package("oci", "a/b", environmentVariables=[{"name": "DOCKER_HOST", "value": "tcp://evil.example"}]),
        *(
            package(runtimeArguments=stated)
            for stated in (
                [{"type": "positional", "value": "evil"}],
                [{"type": "named", "name": "--package", "value": "evil"}],
                [{"type": "named", "name": "--package=evil", "isRequired": True}],
                [{"type": "named", "name": "-c", "value": "id"}],
                [{"type": "named", "name": "--registry", "value": "https://evil.example"}],
            )
        ),
        package("pypi", "a", runtimeArguments=[{"type": "named", "name": "--from", "value": "evil"}]),
        *(
            package("oci", "a/b", runtimeArguments=stated)
            for stated in (
                [{"type": "positional", "value": "evil/image"}],
                [{"type": "named", "name": "--privileged", "isRequired": True}],
                [{"type": "named", "name": "--entrypoint", "value": "sh"}],
                [{"type": "named", "name": "-e", "value": "AWS_SECRET_ACCESS_KEY"}],
                [{"type": "named", "name": "--env=AWS_SECRET_ACCESS_KEY", "isRequired": True}],
                [{"type": "named", "name": "-v", "value": "--privileged"}],
                [{"type": "positional", "value": "--init"}, {"type": "positional", "value": "evil/image"}],
                [{"type": "positional", "value": "-v"}],
            )
        ),
    ],
)
def test_hostile_package_is_unavailable(hostile: Any) -> None:
    way = only(hostile)
    assert (way.inputs, way.configurations) == ((), ())
    assert way.unavailable is not None
    assert way.note == way.unavailable.message


@pytest.mark.parametrize(
    "hostile",
    [
        remote("javascript:alert(1)"),
        remote("file:///etc/passwd"),
        remote("https://github.com@evil.example/"),
        remote("https://a.example/${env:TOKEN}"),
        remote("https://a.example/ b"),
        remote("https://[::1"),
        remote("https://"),
        remote("{url}"),
        remote("https://a.example:99999/"),
        remote(headers=[{"name": "A: b\r\nC", "value": "d"}]),
        remote(headers=[{"name": "A", "value": "b\r\nC: d"}]),
        remote(headers=[{"name": "A", "value": "${env:AWS_SECRET_ACCESS_KEY}"}]),
        remote(headers=[{"name": "A", "value": "$AWS_SECRET_ACCESS_KEY"}]),
        remote(headers=[{"name": "$HOME", "value": "a"}]),
        {**remote(), "type": "stdio"},
        {},
    ],
)
def test_hostile_remote_is_unavailable(hostile: Any) -> None:
    way = only(remotes=[hostile])
    assert (way.inputs, way.configurations) == ((), ())
    assert way.unavailable is not None


def test_default_of_a_secret_is_ignored() -> None:
    said = {"default": "changeme", "isSecret": True}
    variables = [
        {"name": "A", "isRequired": True, **said},
        {"name": "B_C", "value": "x {c}", "variables": {"c": said}},
        {"name": "D", "isRequired": False, **said},
    ]
    way = only(package(environmentVariables=variables))
    assert server(way)["env"] == {"A": "<A>", "B_C": "x <c>"}
    assert "changeme" not in str(serialization.encode(way))


def test_prompts_have_no_references() -> None:
    way = only(package(environmentVariables=[{**SECRET, "description": "Key ${env:HOME} $${{a}"}]))
    [question] = configs(way)["VS Code"]["inputs"]
    assert question["description"] == "Key {env:HOME} {{a}"


def test_user_may_enter_a_runner_variable() -> None:
    way = only(package(environmentVariables=[{"name": "HTTPS_PROXY", "isRequired": True}]))
    assert server(way)["env"] == {"HTTPS_PROXY": "<HTTPS_PROXY>"}


def test_allowed_docker_options() -> None:
    stated: list[dict[str, Any]] = [
        {"type": "named", "name": "-v", "value": "{data}:/data", "variables": {"data": {"isRequired": True}}},
        {"type": "positional", "value": "-e"},
        {"type": "positional", "value": "API_KEY"},
        {"type": "named", "name": "--network=none", "isRequired": True},
    ]
    arguments = server(only(package("oci", "a/b", environmentVariables=[SECRET], runtimeArguments=stated)))["args"]
    assert arguments[5:] == ["-v", "<data>:/data", "-e", "API_KEY", "--network", "none", "a/b"]


def test_too_large_installation_is_unavailable() -> None:
    way = only(package(packageArguments=[{"type": "positional", "value": "a" * 1_000}] * 3))
    assert (way.kind, way.name, way.inputs, way.configurations) == ("npm", "@a/b", (), ())
    assert way.unavailable is not None
    assert way.unavailable.code == "size"
    assert "2,000 characters" in way.note


def test_installations_of_a_huge_entry_are_small() -> None:
    said = {"name": "A", "description": "é" * 1_000, "isRequired": True, "choices": ["c" * 50] * 90}
    arguments = [{"type": "positional", "value": '"' * 2_000, **said}] * 90
    sizes = [(package(packageArguments=arguments[:count])) for count in range(90)]
    small = [package(packageArguments=[{"type": "positional", "value": "'" * 1_900}])] * 1_000
    remotes = [remote(headers=[said] * count) for count in range(100)]
    assert len(serialization.encode(ways(*sizes, remotes=remotes))) < 200_000
    assert len(serialization.encode(ways(*small, remotes=remotes))) < 400_000


@pytest.mark.parametrize(
    "said",
    [
        # 110,000 questions in one argument took a second.
        package(packageArguments=[{"type": "positional", "value": "{a}" * 110_000}]),
        package(environmentVariables=[{"name": f"A_{number}", "value": "{a}" * 600} for number in range(100)]),
        package("pypi", "a", runtimeArguments=[{"type": "positional", "value": "a==" + "1." * 110_000 + "!"}]),
    ],
)
def test_too_many_items_are_unavailable(said: Any) -> None:
    with patch.object(Inputs, "_input", autospec=True, side_effect=Inputs._input) as asked:
        assert not only(said).configurations
    assert asked.call_count <= MAX_PLACEHOLDERS


def test_number_of_installations_is_bounded() -> None:
    assert len(ways(*[package()] * 1_000, remotes=[remote()] * 1_000)) == 2 * MAX_SOURCES


WORD = st.sampled_from(
    [
        "a",
        "b",
        "name",
        "--x",
        "{a}",
        "${a}",
        "${env:A}",
        "$A",
        "%A%",
        "{env:A}",
        "$",
        "{",
        "}",
        "{{a}}",
        "<a>",
        '"',
        "\\",
        "'",
        "\n",
        "\u202e",
        "é",
    ]
)
LINE = st.lists(WORD, max_size=6).map("".join) | st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | LINE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LINE, inner, max_size=3),
    max_leaves=6,
)
KEYS = ("name", "type", "value", "default", "description", "isRequired", "isSecret", "valueHint", "format", "choices")
SAID = st.fixed_dictionaries(
    {}, optional={**dict.fromkeys(KEYS, JSON), "variables": st.dictionaries(LINE, st.dictionaries(LINE, JSON)) | JSON}
)
NAMED = st.lists(st.builds(lambda said, name: {**said, "name": name}, SAID, st.just("A") | LINE) | JSON, max_size=4)
PACKAGE = st.fixed_dictionaries(
    {"registryType": st.sampled_from(["npm", "pypi", "oci", "nuget", "mcpb"]), "identifier": st.just("a") | LINE},
    optional={
        "transport": st.just(STDIO) | JSON,
        "version": JSON,
        "registryBaseUrl": JSON,
        "environmentVariables": NAMED | JSON,
        "runtimeArguments": NAMED | JSON,
        "packageArguments": NAMED | JSON,
    },
)
REMOTE = st.fixed_dictionaries(
    {"type": st.sampled_from(["sse", "streamable-http"]), "url": LINE.map("https://a.example/".__add__) | LINE},
    optional={"headers": NAMED | JSON, "variables": JSON},
)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for item in value.items() for each in item for text in strings(each))
    elif isinstance(value, list | tuple):
        yield from (text for each in value for text in strings(each))


@given(LINE, st.lists(PACKAGE, max_size=3), st.lists(REMOTE, max_size=3))
def test_any_entry_gives_a_complete_and_safe_configuration(name: str, packages: Any, remotes: Any) -> None:
    mcp_id = mcp_id_of(name)
    for way in installations(name, mcp_id, packages, remotes):
        asked = {each.name for each in way.inputs}
        assert len(serialization.encode(way)) < 40_000
        for each in way.configurations:
            assert not re.search(r"\$[A-Za-z]|\{(env|file):|%A%", str(each.config))
            assert serialization.decode(serialization.encode(each.config)) == each.config
            for text in strings(each.config):
                assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
                references = [part.partition("}")[0] for part in text.split("${")[1:]]
                assert each.editor == "VS Code" or not references
                assert {part.partition(f"-{mcp_id}-")[2] for part in references} <= asked
        if way.unavailable:
            assert not way.configurations
            assert clean(way.name) == way.name
            continue
        questions = [each["id"] for each in configs(way)["VS Code"].get("inputs", ())]
        assert len(set(questions)) == len(questions)
        assert server(way).get("command") in (None, "npx", "uvx", "docker", "dnx")


def test_real_entries(shared_data: Path) -> None:
    configured = stated = 0
    with gzip.open(shared_data / "entries.jsonl.gz") as lines:
        for line in lines:
            if b'"packages"' not in line and b'"remotes"' not in line:
                continue
            detail = serialization.decode_entry(serialization.decode(line)).detail()
            stated += bool(detail.packages or detail.remotes)
            configured += any(way.configurations for way in detail.install)
            assert len(serialization.encode(detail.install)) < 64 * 1024
    assert stated > 5_000
    assert configured > 0.94 * stated
