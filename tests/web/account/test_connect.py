"""Editor configurations and the key test."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from html import unescape
from typing import Any

import pytest

from ..conftest import Server
from ..pages.test_commands import by_command_prompt, by_powershell
from .conftest import Browser

_PASTED = re.compile(r'<details [^>]*data-editor="([a-z-]+)".*?<code data-copyable>(.*?)</code>', re.DOTALL)
_COMMAND = re.compile(r'class="command"><code data-copyable>(.*?)</code>')

URL = "http://localhost/api/open/mcp"


def configurations(browser: Browser) -> dict[str, Any]:
    """Return the parsed configuration of each editor on the page."""
    return {
        editor: (tomllib.loads if editor == "codex" else json.loads)(unescape(text))
        for editor, text in _PASTED.findall(browser.page)
    }


def headers_with(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}


def test_every_editor_gets_its_configuration_format(member: Browser) -> None:
    secret = member.create_key()
    found = configurations(member)
    (prompt,) = found["vscode"]["inputs"]
    assert prompt["password"] is True
    url = {"url": URL}
    assert found == {
        "vscode": {
            "inputs": [prompt],
            "servers": {
                "mcp-directory": {"type": "http", **url, "headers": headers_with(f"${{input:{prompt['id']}}}")}
            },
        },
        "cursor": {"mcpServers": {"mcp-directory": {**url, "headers": headers_with("${env:MCP_DIRECTORY_KEY}")}}},
        "claude-code": {
            "mcpServers": {"mcp-directory": {"type": "http", **url, "headers": headers_with("${MCP_DIRECTORY_KEY}")}}
        },
        "codex": {
            "mcp_servers": {
                "mcp-directory": {
                    **url,
                    "bearer_token_env_var": "MCP_DIRECTORY_KEY",
                    "http_headers": {"Content-Type": "application/json"},
                }
            }
        },
        "gemini": {"mcpServers": {"mcp-directory": {"httpUrl": URL, "headers": headers_with("${MCP_DIRECTORY_KEY}")}}},
        "windsurf": {
            "mcpServers": {"mcp-directory": {"serverUrl": URL, "headers": headers_with("${env:MCP_DIRECTORY_KEY}")}}
        },
        "zed": {"context_servers": {"mcp-directory": {**url, "headers": headers_with("<KEY>")}}},
        "jetbrains": {"mcpServers": {"mcp-directory": {**url, "headers": headers_with("<KEY>")}}},
        "others": {
            "name": "mcp-directory",
            "serverUrl": URL,
            "transport": "http",
            "headers": headers_with("<KEY>"),
            "capabilities": {"tools": True},
        },
    }
    for file in (".vscode/mcp.json", "~/.cursor/mcp.json", ".mcp.json", "~/.codeium/windsurf/mcp_config.json"):
        assert file in member.text
    # The key is in its box and in the form that tests it, and in no configuration.
    assert member.page.count(secret) == 2


def test_configurations_are_the_same_without_a_new_key(member: Browser) -> None:
    member.create_key()
    shown = configurations(member)
    member.get("/account/connect")
    assert "mcpd_" not in member.page
    assert configurations(member) == shown


def test_the_commands_are_read_by_their_shells(member: Browser) -> None:
    member.get("/account/connect")
    unix, command_prompt = map(unescape, _COMMAND.findall(member.page))
    words = [
        *("claude", "mcp", "add", "--scope", "project", "--transport", "http", "mcp-directory", URL),
        *("--header", "Authorization: Bearer ${MCP_DIRECTORY_KEY}", "--header", "Content-Type: application/json"),
    ]
    assert shlex.split(unix) == words
    assert list(by_powershell(unix)) == [words] * 3
    assert list(by_command_prompt(command_prompt)) == [words] * 3
    for shells in ("bash, zsh, fish, PowerShell:", "in Command Prompt:"):
        assert shells in member.text


@pytest.mark.parametrize("server", [{"web.url": "https://directory.example.org/"}], indirect=True)
def test_configurations_use_the_configured_url(member: Browser) -> None:
    member.get("/account/connect")
    assert configurations(member)["others"]["serverUrl"] == "https://directory.example.org/api/open/mcp"


def test_behind_a_tls_proxy_the_url_is_https(server: Server, member: Browser) -> None:
    proxied = Browser(server, "10.0.0.1", **{"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1"})
    proxied.get("/account/sign-in")
    proxied.headers["Origin"] = "https://localhost"
    proxied.sign_in()
    proxied.get("/account/connect")
    assert configurations(proxied)["others"]["serverUrl"] == "https://localhost/api/open/mcp"


def test_the_key_test_lists_the_tools(server: Server, member: Browser) -> None:
    secret = member.create_key()
    response = member.post("/account/connect/test", {"key": f" {secret} "})
    assert member.follow(response).status == 200
    assert "The key works. Available tools: search_mcp, get_mcp_detail" in member.text
    assert secret not in member.page
    assert server.get("/api/open/v1/search?keywords=x", key=secret).headers["X-RateLimit-Remaining"] == "19"
    # A reload of the result shows the configurations.
    assert member.follow(member.get("/account/connect/test")).status == 200
    assert "Connect an editor" in member.text


@pytest.mark.parametrize("key", ["", "nonsense", "mcpd_" + "a" * 38, "a, b", "a\r\nHost: b", "é", "\u4f60"])
def test_the_key_test_rejects_invalid_keys(member: Browser, key: str) -> None:
    member.get("/account/connect")
    assert member.submit("/account/connect/test", {"key": key}) == "unauthorized"
    assert "This key is unknown, revoked or expired." in member.text


def test_invalid_keys_count_as_failed_authentications(server: Server, member: Browser) -> None:
    member.get("/account/connect")
    form = member.page
    codes = []
    for _ in range(32):
        member.page = form
        codes.append(member.submit("/account/connect/test", {"key": "guess"}))
    assert codes == ["unauthorized"] * 30 + ["throttled"] * 2
    assert server.get("/api/open/v1/search?keywords=x", key="mcpd_guess").status == 429
