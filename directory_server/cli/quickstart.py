"""What a newcomer is told: how to reach the server, and what to paste into an editor."""

from __future__ import annotations

from collections.abc import Sequence

from ..config import endpoints
from ..serialization import pretty

MCP_PATH = "/api/open/mcp"
SEARCH_PATH = "/api/open/v1/search"


PROXY = "http://ADDRESS"
"""The URL of a server that listens on sockets alone, whose address others know."""


def base_url(listen: Sequence[str]) -> str:
    """Return the URL that reaches the first of the endpoints `listen` that tells one, from the same machine."""
    return next(filter(None, (endpoints.read(each).url for each in listen)), PROXY)


def public_url(url: str, listen: Sequence[str]) -> str:
    """Return the URL for people: `url` (the setting web.url) without a slash at its end, else `base_url(listen)`."""
    return url.rstrip("/") or base_url(listen)


def editor_configuration(base: str, key: str) -> str:
    """Return the JSON that editors take for a server with a key."""
    server = {
        "type": "http",
        "url": base + MCP_PATH,
        "headers": {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    }
    return pretty({"mcpServers": {"mcp-directory": server}})


def instructions(base: str, key: str | None, entries: int, *, pages: bool = False) -> str:
    """Return what to do next; `key` is None where it was shown before, `pages` tells that anybody may see these."""
    shown = key or "<your key>"
    known = f"Your API key (shown this once): {key}" if key else "Your API key: the one shown at the first start"
    where = "  ADDRESS:       where your proxy, or systemd, takes requests for it\n" if base == PROXY else ""
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
