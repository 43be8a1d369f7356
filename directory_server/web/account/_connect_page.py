"""The page with editor configurations for the MCP endpoint, and the key test."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from attrs import frozen

from ... import serialization
from ...domain.errors import DirectoryError
from ...http import Request
from ...http.headers import value as header
from ...http.proxies import Proxies
from ..mcp import PATH, McpEndpoint
from ._requests import AccountRequests

CONNECT = "/account/connect"
TEST = f"{CONNECT}/test"

NAME = "mcp-directory"
"""Name of the server in editor configurations."""


@frozen
class Editor:
    """The configuration for one editor: its file and text."""

    id: str
    name: str
    file: str
    text: str


def editors(url: str, key: str | None) -> Sequence[Editor]:
    """Return the configuration of each editor for the MCP endpoint at `url`. Without a `key`, use a placeholder."""
    headers = {"Authorization": f"Bearer {key or '<your key>'}", "Content-Type": "application/json"}
    server = {"type": "http", "url": url, "headers": headers}
    generic = {
        "name": NAME,
        "serverUrl": url,
        "transport": "http",
        "headers": headers,
        "capabilities": {"tools": True},
    }
    return [
        Editor("vscode", "VS Code", ".vscode/mcp.json", serialization.pretty(_vs_code(server, key))),
        Editor("cursor", "Cursor", "~/.cursor/mcp.json", _servers({"url": url, "headers": headers})),
        Editor("claude", "Claude Code", ".mcp.json", _servers(server)),
        Editor(
            "windsurf",
            "Windsurf",
            "~/.codeium/windsurf/mcp_config.json",
            _servers({"serverUrl": url, "headers": headers}),
        ),
        Editor("generic", "MCP", "", serialization.pretty(generic)),
    ]


def input_id(url: str) -> str:
    """Return the id of the VS Code input for the key of the directory at `url`.

    VS Code shares the stored value between all servers whose configuration has the same id. So the id contains a digest
    of the URL. It differs between directories, and from the ids of entries, which end with the name of an input.
    """
    return f"mcp-directory-key-{sha256(url.encode()).hexdigest()[:16]}"


def _servers(server: dict[str, Any]) -> str:
    return serialization.pretty({"mcpServers": {NAME: server}})


def _vs_code(server: dict[str, Any], key: str | None) -> dict[str, Any]:
    if key is not None:
        return {"servers": {NAME: server}}
    # VS Code asks for the key once and stores it outside the file.
    name = input_id(server["url"])
    key_input = {"id": name, "type": "promptString", "description": "Key of the MCP directory", "password": True}
    headers = {**server["headers"], "Authorization": f"Bearer ${{input:{name}}}"}
    return {"inputs": [key_input], "servers": {NAME: {**server, "headers": headers}}}


@frozen
class ConnectPage:
    """Handles /account/connect; `_url` is the public URL of the server, empty to derive it from the request."""

    _requests: AccountRequests
    _mcp: McpEndpoint
    _proxies: Proxies
    _url: str

    async def get(self, request: Request) -> bytes:
        """Return the editor configurations with a placeholder for the key."""
        member = await self._requests.member(request)
        values = {"editors": self.editors(request, None), "endpoint": PATH.decode()}
        return self._requests.page(request, member.session, "connect", values)

    async def test(self, request: Request) -> bytes:
        """List the tools with the key in the form, and redirect to the result."""
        _, form = await self._requests.member_form(request)
        try:
            tools = await self._mcp.tools(request, form.get("key", "").strip())
        except DirectoryError:
            return self._requests.form_error(request, TEST)
        return self._requests.redirect(request, TEST, "test_passed", tools=", ".join(tools))

    async def get_test(self, request: Request) -> bytes:
        """Return the result of the last test. Without one, redirect to the editor configurations."""
        member = await self._requests.member(request)
        if not self._requests.has_flash(request):
            return self._requests.redirect(request, CONNECT)
        return self._requests.page(request, member.session, "test", {"tools": ""})

    def editors(self, request: Request, key: str | None) -> Sequence[Editor]:
        """Return the configuration of each editor."""
        scheme = "https" if self._proxies.is_secure(request) else "http"
        base = self._url.rstrip("/") or f"{scheme}://{header(request, 'Host')}"
        return editors(base + PATH.decode(), key)
