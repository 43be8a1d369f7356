"""First steps: URLs of the server and editor configuration."""

from __future__ import annotations

from collections.abc import Sequence

from ..config import endpoints
from ..serialization import pretty

MCP_PATH = "/api/open/mcp"
SEARCH_PATH = "/api/open/v1/search"


PROXY = "http://ADDRESS"
"""Placeholder URL of a server that listens only on sockets behind a proxy."""


def base_url(listen: Sequence[str]) -> str:
    """Return the local URL of the first endpoint in `listen` that has one."""
    return next(filter(None, (endpoints.read(each).url for each in listen)), PROXY)


def public_url(url: str, listen: Sequence[str]) -> str:
    """Return `url` (the setting web.url) without a trailing slash, else `base_url(listen)`."""
    return url.rstrip("/") or base_url(listen)


def editor_configuration(base: str, key: str) -> str:
    """Return the editor configuration for a server with an API key, as JSON."""
    server = {
        "type": "http",
        "url": base + MCP_PATH,
        "headers": {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    }
    return pretty({"mcpServers": {"mcp-directory": server}})


def instructions(base: str, key: str | None, entries: int, *, pages: bool = False) -> str:
    """Return the next steps. `key` is None if it was shown before; `pages` means that the search page is public."""
    shown = key or "<your key>"
    known = f"Your API key (shown only once): {key}" if key else "Your API key: the one shown at the first start"
    where = "  ADDRESS:       the address of your proxy or systemd socket\n" if base == PROXY else ""
    looked = f"  In a browser:  {base}/\n" if pages else ""
    return f"""
MCP directory server: {entries:,} entries
  MCP endpoint:  {base}{MCP_PATH}
  REST search:   {base}{SEARCH_PATH}
{looked}{where}  {known}

Try it:
  curl -H 'Authorization: Bearer {shown}' '{base}{SEARCH_PATH}?keywords=github'

Paste into an editor (Cursor: ~/.cursor/mcp.json; others: see README.md):
{editor_configuration(base, shown)}
"""
