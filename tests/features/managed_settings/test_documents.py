"""Documents of managed settings: exact rules for single entries, and for all real ones."""

from __future__ import annotations

import gzip
import os
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from directory_server import serialization
from directory_server.client_config import install_options
from directory_server.client_config._keys import MAX_KEY, deployed_key
from directory_server.domain.entries import PUBLISHER, Entry, mcp_id_of
from directory_server.features.managed_settings.selection import MESSAGES, Policy, PolicyBuilder

from .matchers import check_format, claude_code, is_registered, others, vs_code

TOOL = deployed_key("com.acme/tool", mcp_id_of("com.acme/tool"))


def entry(name: str = "com.acme/tool", **server: Any) -> Entry:
    return Entry({"name": name, "description": "A tool.", "version": "1.0.0", **server})


def remote(url: str, **members: Any) -> Entry:
    return entry(remotes=[{"type": "streamable-http", "url": url, **members}])


def package(*arguments: dict[str, Any], identifier: str = "@acme/tool", **members: Any) -> Entry:
    given = {"registryType": "npm", "identifier": identifier, "version": "1.2.3", "transport": {"type": "stdio"}}
    return entry(packages=[{**given, "packageArguments": [*arguments], **members}])


def policy_of(*allowed: Entry, denied: tuple[Entry, ...] = ()) -> Policy:
    builder = PolicyBuilder()
    for each in allowed:
        builder.allow(each)
    for each in denied:
        builder.deny(each)
    return builder.policy()


def codes(policy: Policy) -> list[str]:
    return [warning.code for warning in policy.warnings]


def test_a_package_is_allowed_by_the_exact_command() -> None:
    command = ["npx", "-y", "@acme/tool@1.2.3", "--read-only"]
    policy = policy_of(package({"type": "named", "name": "--read-only"} | {"isRequired": True}))
    for file in ("copilot.json", "claude-code.json"):
        document = policy.document(file)
        check_format(document)
        assert document["allowedMcpServers"] == [{"serverCommand": command}]
    assert policy.document("managed-mcp.json") == {
        "mcpServers": {TOOL: {"type": "stdio", "command": "npx", "args": command[1:]}}
    }
    assert codes(policy) == []


@pytest.mark.parametrize(
    ("url", "pattern"),
    [
        ("https://mcp.acme.com/mcp", "https://mcp.acme.com/mcp"),
        ("https://MCP.acme.com", "https://mcp.acme.com/"),
        ("https://mcp.acme.com:443/mcp?team=a", "https://mcp.acme.com/mcp?team=a"),
        ("https://mcp.acme.com:08443/mcp", "https://mcp.acme.com:8443/mcp"),
        ("http://10.0.0.1:80/mcp", "http://10.0.0.1/mcp"),
        ("https://[2001:DB8::1]/mcp", "https://[2001:db8::1]/mcp"),
        ("https://bücher.example/mcp", "https://xn--bcher-kva.example/mcp"),
    ],
)
def test_a_remote_is_allowed_by_its_normal_url(url: str, pattern: str) -> None:
    assert policy_of(remote(url)).document("copilot.json")["allowedMcpServers"] == [{"serverUrl": pattern}]


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("https://mcp.acme.com/*", "wildcard"),
        ("https://mcp.acme.com/{tenant}/mcp", "input"),
        ("https://mcp.acme.com/a/../mcp", "url"),
        ("https://mcp.acme.com/a/%2E%2e/mcp", "url"),
        ("https://mcp.acme.com/mcp#part", "url"),
        ("https://mcp.acme.com/m|cp", "url"),
        ("https://mcp.acme.com/m%cp", "url"),
        ("https://mcp.acme.com/é", "url"),
        ("https://mcp.acme.com/${HOME}", "input"),
        ("https://mcp.acme.com@evil.example/", "url"),
        ("https://*.acme.com/mcp", "url"),
        ("ftp://mcp.acme.com/", "url"),
    ],
)
def test_a_url_that_rules_cannot_express_has_a_warning(url: str, code: str) -> None:
    policy = policy_of(remote(url))
    assert policy.document("copilot.json")["allowedMcpServers"] == []
    assert codes(policy)[0] == code


def test_a_value_in_the_command_has_a_warning() -> None:
    policy = policy_of(package({"type": "positional", "valueHint": "folder", "isRequired": True}))
    assert policy.allowed == []
    assert policy.servers == {}
    assert codes(policy) == ["input", "review"]


def test_a_secret_is_a_variable_of_the_deployed_server_and_no_part_of_the_rule() -> None:
    headers = [{"name": "Authorization", "value": "Bearer {token}", "variables": {"token": {"isSecret": True}}}]
    policy = policy_of(remote("https://mcp.acme.com/mcp", headers=headers))
    assert policy.document("claude-code.json")["allowedMcpServers"] == [{"serverUrl": "https://mcp.acme.com/mcp"}]
    [server] = policy.servers.values()
    assert server["headers"]["Authorization"].startswith("Bearer ${MCP_")
    assert codes(policy) == []


def test_the_first_way_without_edits_is_deployed() -> None:
    both = entry(
        packages=[*package().packages],
        remotes=[{"type": "sse", "url": "https://acme.com/{tenant}"}, {"type": "sse", "url": "https://acme.com/sse"}],
    )
    policy = policy_of(both)
    assert policy.servers == {TOOL: {"type": "sse", "url": "https://acme.com/sse"}}
    assert len(policy.allowed) == 2


@pytest.mark.parametrize("names", [("com.a/tool", "com.b/tool"), ("com.a/Tool", "com.a/tool_mcp", "com.a/t.o.o.l")])
def test_the_key_of_a_server_depends_on_its_name_only(names: tuple[str, ...]) -> None:
    keys: dict[str, str] = {}
    for ordered in (names, names[::-1], names[1:]):
        for tools in ([], [{"name": "x" * 60}]):
            entries = [
                Entry(
                    {
                        **entry(name).server,
                        "version": "2",
                        "remotes": [{"type": "sse", "url": f"https://{number}.example"}],
                    },
                    {PUBLISHER: {"tools": tools}},
                )
                for number, name in sorted(enumerate(ordered), reverse=True)
            ]
            servers = policy_of(*entries).servers
            assert len(servers) == len(ordered)
            for one, key in zip(entries, servers, strict=True):
                assert keys.setdefault(one.name, key) == key
                assert len(key) <= MAX_KEY
    assert len(set(keys.values())) == len(names)


@pytest.mark.slow
def test_nobody_finds_another_name_with_the_key_of_a_server() -> None:
    # Of 32 bits of a hash, two in a hundred thousand names are the same; the second one is found in minutes.
    names = (f"io.evil/linear-{number:015}" for number in range(100_000))
    keys = [deployed_key(name, mcp_id_of(name)) for name in names]
    assert len(set(keys)) == len(keys)
    assert {key.partition("-")[0] for key in keys} == {"linear"}


def test_hidden_entries_are_denied_unless_an_allowed_one_is_the_same() -> None:
    evil = entry("com.evil/tool", remotes=[*remote("https://evil.example/mcp").remotes])
    copy = entry("com.copy/tool", remotes=[*remote("https://acme.com/mcp").remotes])
    policy = policy_of(remote("https://acme.com/mcp"), denied=(evil, copy))
    assert policy.document("claude-code.json")["deniedMcpServers"] == [{"serverUrl": "https://evil.example/mcp"}]
    # The gallery of VS Code installs under the name of the registry.
    assert policy.document("copilot.json")["deniedMcpServers"][1:] == [
        {"serverName": "com.evil/tool"},
        {"serverName": "com.copy/tool"},
    ]
    assert [(warning.server, warning.code) for warning in policy.warnings] == [("com.copy/tool", "allowed")]


def test_an_entry_without_package_and_remote_has_a_warning() -> None:
    assert codes(policy_of(entry())) == ["none"]


def check_entry(each: Entry) -> Counter[str]:
    """Check the documents for one entry against the rules of the clients; return numbers of what they contain."""
    policy = policy_of(each)
    for file in ("copilot.json", "claude-code.json"):
        document = policy.document(file)
        check_format(document)
        assert serialization.decode(serialization.encode(document)) == document
    options = install_options(each.name, each.mcp_id, each.packages, each.remotes, [tool.name for tool in each.tools])
    pages = [
        setup.config
        for option in options
        if option.setups
        for setup in option.setups.setups
        if setup.editor.id in ("claude-code", "vscode")
    ]
    offered = [
        server for config in pages for server in (config.get("mcpServers") or config.get("servers") or {}).values()
    ]
    urls = [server["url"] for server in offered if "url" in server]
    commands = [[server["command"], *server["args"]] for server in offered if "command" in server]
    found: Counter[str] = Counter()
    for rule in policy.allowed:
        found["urls" if rule.url else "commands"] += 1
        if rule.command:
            assert [*rule.command] in commands or any(option.kind == "sse" for option in options)
            continue
        matching = [url for url in urls if "${" not in url and "<" not in url]
        for match in (vs_code, claude_code):
            assert match(rule.url, rule.url)
            assert any(match(rule.url, url) for url in matching) or "sse" in str(each.remotes)
            assert not any(match(rule.url, url) for url in others(rule.url))
    pinned = [package for package in each.packages if package.get("registryType") == "npm" and package.get("version")]
    starts = [rule.command for rule in policy.allowed if rule.command[:1] == ("npx",)]
    assert not pinned or all(any(is_registered(start, package) for package in pinned) for start in starts)
    found["registered"] += len(starts) if pinned else 0
    for server in policy.servers.values():
        # The allow list applies to deployed servers too.
        assert server.keys() <= {"type", "command", "args", "env", "url", "headers"}
    found["deployed"] += len(policy.servers)
    found.update(f"warning {warning.code}" for warning in policy.warnings)
    assert all(code in MESSAGES or warning.message for warning in policy.warnings for code in [warning.code])
    return found


@pytest.mark.slow
def test_the_rules_of_real_entries_are_exact(shared_data: Path) -> None:
    # A third of them, as in tests/client_config; ALL_ENTRIES=1 checks all.
    step = 1 if os.environ.get("ALL_ENTRIES") else 3
    total = Counter[str]()
    with gzip.open(shared_data / "entries.jsonl.gz") as lines:
        for line in islice(lines, 0, None, step):
            if step == 1 or b'"packages"' in line or b'"remotes"' in line:
                total += check_entry(serialization.decode_entry(serialization.decode(line)))
    assert total["registered"] > 250 / step
    assert total["urls"] > 750 / step
    assert total["commands"] > 4_500 / step
