"""What a newcomer is told: how to reach the server, and what to paste into an editor."""

from __future__ import annotations

import re

from .wire import pretty

MCP_PATH = "/api/open/mcp"
SEARCH_PATH = "/api/open/v1/search"


def base_url(listen: str) -> str:
    """Return the URL that reaches the endpoint `listen` from the same machine."""
    kind, _, rest = listen.partition(":")
    port = re.match(r"\d+", rest) or re.search(r"(?<=port=)\d+", rest)
    interface = re.search(r"interface=((?:[^:\\]|\\:)+)", rest)
    host = interface[1].replace("\\:", ":") if interface else "127.0.0.1"
    if host in ("0.0.0.0", "::", ""):
        host = "127.0.0.1"
    if ":" in host:
        host = f"[{host}]"
    return f"{'https' if kind == 'ssl' else 'http'}://{host}:{port[0] if port else 8080}"


def editor_configuration(base: str, key: str) -> str:
    """Return the JSON that editors take for a server with a key."""
    server = {
        "type": "http",
        "url": base + MCP_PATH,
        "headers": {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    }
    return pretty({"mcpServers": {"mcp-directory": server}})


def instructions(base: str, key: str | None, entries: int) -> str:
    """Return what to do next; `key` is None where it was shown before."""
    shown = key or "<your key>"
    known = f"Your API key (shown this once): {key}" if key else "Your API key: the one shown at the first start"
    return f"""
MCP directory server: {entries:,} entries
  MCP endpoint:  {base}{MCP_PATH}
  REST search:   {base}{SEARCH_PATH}
  {known}

Try it:
  curl -H 'Authorization: Bearer {shown}' '{base}{SEARCH_PATH}?keywords=github'

Paste into an editor (Cursor: ~/.cursor/mcp.json; others: see README.md):
{editor_configuration(base, shown)}
"""
