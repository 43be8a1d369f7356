"""Editor configurations and the key test."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from directory_server.client_config import EDITORS

from ..conftest import Server
from ..pages.test_commands import by_command_prompt, by_powershell
from .conftest import Browser

_PASTED = re.compile(
    r'<details class="setup"[^>]*data-editors="([a-z -]+)".*?<code data-copyable>([^<]*)</code></pre>'
    r"</figure>\n</details>",
    re.DOTALL,
)
_COMMAND = re.compile(r'class="command"><code data-copyable>(.*?)</code>')

URL = "http://localhost/api/open/mcp"


def configurations(browser: Browser, page: str = "") -> dict[str, Any]:
    """Return the parsed configuration of each editor on the page."""
    read: dict[str, Callable[[str], Any]] = {"codex": tomllib.loads, "goose": str}
    return {
        editor: read.get(editor, json.loads)(unescape(text))
        for editors, text in _PASTED.findall(page or browser.page)
        for editor in editors.split()
    }


def test_every_editor_has_the_endpoint_and_the_key(member: Browser) -> None:
    secret = member.create_key()
    shown, _, keyed = member.page.partition('<div class="with-key">')
    found = configurations(member, shown)
    assert found.keys() == {editor.id for editor in EDITORS}
    assert {editor for editor, text in found.items() if URL not in str(text)} == set()
    assert found["codex"]["mcp_servers"]["mcp-directory"] == {
        "url": URL,
        "bearer_token_env_var": "MCP_DIRECTORY_KEY",
    }
    assert found["vscode"]["inputs"][0]["password"] is True
    assert found["others"]["headers"] == {"Authorization": "Bearer <KEY>", "Content-Type": "application/json"}
    # The switch shows configurations with the key in them, and nothing to enter.
    assert {editor for editor, text in configurations(member, keyed).items() if secret not in str(text)} == set()
    assert "<KEY>" not in unescape(keyed)
    # Without it, the key is in its box, in the lines that set a variable, and in the form that tests it.
    assert shown.count(secret) == 4
    assert f"$env:MCP_DIRECTORY_KEY = '{secret}'" in member.text


def test_configurations_are_the_same_without_a_new_key(member: Browser) -> None:
    member.create_key()
    shown = configurations(member, member.page.partition('<div class="with-key">')[0])
    member.get("/account/connect")
    assert "mcpd_" not in member.page
    assert configurations(member) == shown


def test_everybody_may_read_the_page_if_everybody_may_search(server: Server) -> None:
    visitor = Browser(server)
    assert visitor.get("/account/connect").status == 200
    assert "You need an API key. Sign in to create one" in visitor.text
    assert "export MCP_DIRECTORY_KEY='your key'" in visitor.text
    # The test of a key needs no account, but a form of this page.
    assert visitor.submit("/account/connect/test", {"key": "guess"}) == "unauthorized"


@pytest.mark.parametrize("server", [{"web.search": "accounts"}], indirect=True)
def test_only_members_may_read_the_page_if_only_they_may_search(server: Server) -> None:
    assert Browser(server).get("/account/connect").status == 303


def test_the_commands_are_read_by_their_shells(member: Browser) -> None:
    member.get("/account/connect")
    commands = [unescape(text) for text in _COMMAND.findall(member.page)]
    reference = ["--header", "Authorization: Bearer ${MCP_DIRECTORY_KEY}"]
    for program in ("claude", "gemini", "qwen"):
        words = [program, "mcp", "add", "--scope", "user", "--transport", "http", "mcp-directory", URL, *reference]
        unix, command_prompt = (text for text in commands if text.startswith(f"{program} "))
        assert shlex.split(unix) == words
        assert list(by_powershell(unix)) == [words] * 3
        assert list(by_command_prompt(command_prompt)) == [words] * 3
    [codex] = (text for text in commands if text.startswith("codex "))
    assert shlex.split(codex)[-4:] == ["--url", URL, "--bearer-token-env-var", "MCP_DIRECTORY_KEY"]
    [code] = (text for text in commands if text.startswith("code "))
    assert json.loads(shlex.split(code)[2])["name"] == "mcp-directory"
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
