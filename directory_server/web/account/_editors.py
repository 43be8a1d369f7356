"""What to paste into which editor."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from attrs import frozen

from ... import serialization

NAME = "mcp-directory"
"""What the directory is called in an editor."""


@frozen
class Editor:
    """An editor, the file that it reads, and what belongs there."""

    id: str
    name: str
    file: str
    text: str


def editors(url: str, key: str | None) -> Sequence[Editor]:
    """Return what each editor wants to know; `url` is that of the MCP endpoint, `key` None where none is at hand."""
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
    """Return the id of the question for the key of the directory at `url`.

    VS Code gives the kept answer to every server whose configuration has the same id. So the id belongs to the URL:
    another directory has another one, and the ids of entries, which end with the name of an input, are longer.
    """
    return f"mcp-directory-key-{sha256(url.encode()).hexdigest()[:16]}"


def _servers(server: dict[str, Any]) -> str:
    return serialization.pretty({"mcpServers": {NAME: server}})


def _vs_code(server: dict[str, Any], key: str | None) -> dict[str, Any]:
    if key is not None:
        return {"servers": {NAME: server}}
    # Asked for once, and kept where the file does not show it.
    name = input_id(server["url"])
    asked = {"id": name, "type": "promptString", "description": "Key of the MCP directory", "password": True}
    headers = {**server["headers"], "Authorization": f"Bearer ${{input:{name}}}"}
    return {"inputs": [asked], "servers": {NAME: {**server, "headers": headers}}}
