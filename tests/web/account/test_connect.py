"""Editor configurations and the key test."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest

from ..conftest import Server
from .conftest import Browser

_PASTED = re.compile(r'<pre [^>]*id="for-(\w+)">(.*?)</pre>', re.DOTALL)


def configurations(browser: Browser) -> dict[str, Any]:
    """Return the parsed configuration of each editor on the page."""
    return {editor: json.loads(unescape(text)) for editor, text in _PASTED.findall(browser.page)}


def test_every_editor_gets_its_configuration_format(member: Browser) -> None:
    secret = member.create_key()
    url = "http://localhost/api/open/mcp"
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    assert configurations(member) == {
        "vscode": {"servers": {"mcp-directory": {"type": "http", "url": url, "headers": headers}}},
        "cursor": {"mcpServers": {"mcp-directory": {"url": url, "headers": headers}}},
        "claude": {"mcpServers": {"mcp-directory": {"type": "http", "url": url, "headers": headers}}},
        "windsurf": {"mcpServers": {"mcp-directory": {"serverUrl": url, "headers": headers}}},
        "generic": {
            "name": "mcp-directory",
            "serverUrl": url,
            "transport": "http",
            "headers": headers,
            "capabilities": {"tools": True},
        },
    }
    for file in (".vscode/mcp.json", "~/.cursor/mcp.json", ".mcp.json", "~/.codeium/windsurf/mcp_config.json"):
        assert file in member.text


def test_configurations_have_a_placeholder_for_the_key(member: Browser) -> None:
    member.create_key()
    member.get("/account/connect")
    assert "mcpd_" not in member.page
    found = configurations(member)
    assert found["cursor"]["mcpServers"]["mcp-directory"]["headers"]["Authorization"] == "Bearer <your key>"
    vscode = found["vscode"]
    assert vscode["inputs"][0]["password"] is True
    authorization = vscode["servers"]["mcp-directory"]["headers"]["Authorization"]
    assert authorization == f"Bearer ${{input:{vscode['inputs'][0]['id']}}}"


@pytest.mark.parametrize("server", [{"url": "https://directory.example.org/"}], indirect=True)
def test_configurations_use_the_configured_url(member: Browser) -> None:
    member.get("/account/connect")
    assert configurations(member)["generic"]["serverUrl"] == "https://directory.example.org/api/open/mcp"


def test_behind_a_tls_proxy_the_url_is_https(server: Server, member: Browser) -> None:
    proxied = Browser(server, "10.0.0.1", **{"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1"})
    proxied.get("/account/sign-in")
    proxied.headers["Origin"] = "https://localhost"
    proxied.sign_in()
    proxied.get("/account/connect")
    assert configurations(proxied)["generic"]["serverUrl"] == "https://localhost/api/open/mcp"


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
