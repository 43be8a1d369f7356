"""Hostile and too large packages and remotes have no configuration; sizes are bounded."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from directory_server import serialization
from directory_server.client_config import MAX_SOURCES
from directory_server.client_config._server_config import MAX_PLACEHOLDERS, Inputs

from .builders import (
    installation_of,
    installations_of,
    package,
    remote,
    unavailable_code,
)


@pytest.mark.parametrize(
    "hostile",
    [
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
        *(
            package("oci", "a/b", runtimeArguments=[{"type": "positional", "value": value} for value in values])
            for values in (["evil/image"], ["--init", "evil/image"], ["-v"])
        ),
    ],
)
def test_hostile_package_is_unavailable(hostile: Any) -> None:
    assert unavailable_code(installation_of(hostile))


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
    assert unavailable_code(installation_of(remotes=[hostile]))


def test_too_large_installation_is_unavailable() -> None:
    installation = installation_of(package(packageArguments=[{"type": "positional", "value": "a" * 1_000}] * 3))
    assert (installation.kind, installation.name, unavailable_code(installation)) == ("npm", "@a/b", "size")
    assert "2,000 characters" in installation.note


def test_installations_of_a_huge_entry_are_small() -> None:
    item = {"name": "A", "description": "é" * 1_000, "isRequired": True, "choices": ["c" * 50] * 90}
    arguments = [{"type": "positional", "value": '"' * 2_000, **item}] * 90
    sizes = [(package(packageArguments=arguments[:count])) for count in range(90)]
    small = [package(packageArguments=[{"type": "positional", "value": "'" * 1_900}])] * 1_000
    remotes = [remote(headers=[item] * count) for count in range(100)]
    assert len(serialization.encode(installations_of(*sizes, remotes=remotes))) < 200_000
    assert len(serialization.encode(installations_of(*small, remotes=remotes))) < 400_000


@pytest.mark.parametrize("character", "\u2800\u3164\u00a0\u200d\ufe0f\ufffc\U0001d159☃")
def test_arguments_variables_and_headers_have_only_visible_characters(character: str) -> None:
    value = f"a{character}b"
    for source in (
        {"packageArguments": [{"type": "positional", "value": value}]},
        {"packageArguments": [{"type": "positional", "isRequired": True, "choices": [value]}]},
        {"environmentVariables": [{"name": "A_B", "value": value}]},
    ):
        assert unavailable_code(installation_of(package(**source))) == "hidden"
    assert unavailable_code(installation_of(remotes=[remote(headers=[{"name": "A", "value": value}])])) == "hidden"


@pytest.mark.parametrize(
    "value",
    [
        # 110,000 placeholders in one argument took a second.
        package(packageArguments=[{"type": "positional", "value": "{a}" * 110_000}]),
        package(environmentVariables=[{"name": f"A_{number}", "value": "{a}" * 600} for number in range(100)]),
        package("pypi", "a", runtimeArguments=[{"type": "positional", "value": "a==" + "1." * 110_000 + "!"}]),
    ],
)
def test_too_many_items_are_unavailable(value: Any) -> None:
    with patch.object(Inputs, "_input", autospec=True, side_effect=Inputs._input) as create_input:
        assert not installation_of(value).configurations
    assert create_input.call_count <= MAX_PLACEHOLDERS


def test_number_of_installations_is_bounded() -> None:
    packages = [package("npm", f"a{number}") for number in range(1_000)]
    remotes = [remote(url=f"https://a{number}.example/mcp") for number in range(1_000)]
    assert len(installations_of(*packages, remotes=remotes)) == 2 * MAX_SOURCES


def test_equal_remotes_and_packages_are_one() -> None:
    other = remote(url="https://b.example/mcp")
    found = installations_of(package(), package(), remotes=[remote(), other, remote(), {}, {}])
    assert [installation.name for installation in found] == ["https://a.example/mcp", other["url"], "", "@a/b@latest"]


@pytest.mark.parametrize(
    ("part", "code", "message"),
    [
        (
            {"transportType": "sse", "url": "https://a.example"},
            "untyped",
            "states no type of this package or remote: https",
        ),
        (
            {"type": "websocket", "url": "https://a.example"},
            "kind",
            "No editor configuration is available for the type web",
        ),
        ({"type": None}, "untyped", "states no type"),
    ],
)
def test_a_remote_without_a_known_type_names_what_is_missing(part: Any, code: str, message: str) -> None:
    (installation,) = installations_of(remotes=[part])
    assert installation.unavailable is not None
    assert installation.unavailable.code == code
    assert message in installation.note
