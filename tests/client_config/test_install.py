"""Configurations of packages and remotes for each registry and editor."""

from __future__ import annotations

from typing import Any

import pytest

from directory_server import serialization

from .builders import (
    SECRET,
    configurations,
    installation_of,
    package,
    remote,
    server_of,
)


@pytest.mark.parametrize(
    ("value", "command", "arguments"),
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
def test_runner_of_each_registry(value: Any, command: str, arguments: list[str]) -> None:
    assert server_of(installation_of(value)) == {"command": command, "args": arguments}


def test_secrets_are_required_by_default() -> None:
    installation = installation_of(package(environmentVariables=[{"name": "TOKEN", "isSecret": True}]))
    assert server_of(installation, "Others")["env"] == {"TOKEN": "<TOKEN>"}


def test_order_of_arguments() -> None:
    installation = installation_of(
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
    assert server_of(installation)["args"] == [
        *("-y", "@a/b@latest", "serve", "--port", "8080", "--root", "<directory>", "--mode", "<mode>"),
    ]
    assert [each["type"] for each in configurations(installation)["VS Code"]["inputs"]] == [
        "promptString",
        "pickString",
    ]


def test_two_inputs_with_one_name_are_separate() -> None:
    mount = {"type": "named", "name": "--mount", "value": "type=bind,src={path},dst=/data"}
    arguments = [
        {**mount, "variables": {"path": {"description": description}}} for description in ("Data", "Settings", "Data")
    ]
    assert server_of(installation_of(package("oci", "a/b", runtimeArguments=arguments)))["args"][3:-1] == [
        *("--mount", "type=bind,src=<path>,dst=/data"),
        *("--mount", "type=bind,src=<path-2>,dst=/data"),
        *("--mount", "type=bind,src=<path>,dst=/data"),
    ]


def test_reference_of_a_publisher_becomes_an_input() -> None:
    header = {"name": "X", "value": "${TOKEN}"}
    assert server_of(installation_of(remotes=[remote(headers=[header])]), "Others")["headers"] == {"X": "<TOKEN>"}


def test_default_of_a_secret_is_ignored() -> None:
    secret = {"default": "changeme", "isSecret": True}
    variables = [
        {"name": "A", "isRequired": True, **secret},
        {"name": "B_C", "value": "x {c}", "variables": {"c": secret}},
        {"name": "D", "isRequired": False, **secret},
    ]
    installation = installation_of(package(environmentVariables=variables))
    assert server_of(installation, "Others")["env"] == {"A": "<A>", "B_C": "x <c>"}
    assert "changeme" not in str(serialization.encode(installation))


def test_prompts_have_no_references() -> None:
    installation = installation_of(package(environmentVariables=[{**SECRET, "description": "Key ${env:HOME} $${{a}"}]))
    [prompt] = configurations(installation)["VS Code"]["inputs"]
    assert prompt["description"] == "Key {env:HOME} {{a}"
