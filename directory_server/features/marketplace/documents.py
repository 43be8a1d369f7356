"""The marketplace file of Claude Code: a plugin for each entry that can be installed.

Source: code.claude.com/docs/en/plugin-marketplaces and /plugins-reference, November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any
from urllib.parse import urlsplit

from ...client_config import install_options
from ...domain.details import detail_of
from ...domain.entries import Entry
from ...domain.versions import Version
from ...domain.withholding import shown_hit
from ...serialization import encode, restore_entry

EDITOR = "claude-code"
"""The id of the editor in `client_config`."""

MAX_BYTES = 1_000_000
"""Bytes of plugins after which further entries are left out."""

MAX_NAME = 64
"""Characters of the name of a plugin or a marketplace."""


def marketplace(versions: Sequence[Version], base_url: str, source: str, query: str) -> bytes:
    """Return the marketplace of `versions`, the entries that match `query`.

    `source` is the URL of the repository of all plugins. A user can have one marketplace of a name, so other queries
    have other names.
    """
    plugins: dict[str, bytes] = {}
    size = 0
    for version in versions:
        entry = restore_entry(version.body)
        servers = _servers(entry)
        if servers is None:
            continue
        name = _slug(entry.name) or entry.mcp_id
        if name in plugins:
            name = f"{name[: MAX_NAME - 9]}-{entry.mcp_id[:8]}"
        plugin = encode(_plugin(name, entry, servers, source))
        size += len(plugin)
        if size > MAX_BYTES:
            break
        plugins[name] = plugin
    host = _slug(urlsplit(base_url).hostname or "") or "directory"
    suffix = f"-{blake2b(query.encode(), digest_size=4).hexdigest()}" if query else ""
    head = encode(
        {
            "name": f"mcp-{host[: MAX_NAME - 13]}{suffix}",
            "owner": {"name": host, "url": base_url},
            "description": "Servers of the MCP directory" + (f' for "{query}".' if query else "."),
        }
    )
    return head[:-1] + b',"plugins":[' + b",".join(plugins.values()) + b"]}"


def _servers(entry: Entry) -> Mapping[str, Any] | None:
    """Return the servers in the first configuration of an entry that the user need not complete or review."""
    detail = detail_of(entry)
    for option in install_options(entry.name, entry.mcp_id, detail.packages, detail.remotes):
        if option.setups is None or option.setups.needs_review:
            continue
        for setup in option.setups.setups:
            # Without a command the user has to complete the configuration.
            if setup.editor.id == EDITOR and setup.command:
                servers: Mapping[str, Any] = setup.config["mcpServers"]
                return servers
    return None


def _plugin(name: str, entry: Entry, servers: Mapping[str, Any], source: str) -> dict[str, Any]:
    hit = shown_hit(entry)
    namespace = hit.server_name.partition("/")[0]
    return {
        "name": name,
        "description": hit.brief or hit.name,
        "version": entry.version[:100],
        "author": {"name": namespace},
        **({"homepage": hit.website_url} if hit.website_url else {}),
        "source": {"source": "url", "url": source},
        # The entry defines the whole plugin: its repository has no files.
        "strict": False,
        "mcpServers": servers,
    }


def _slug(text: str) -> str:
    """Return a name of lower-case letters, digits and hyphens, as Claude Code demands."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:MAX_NAME].rstrip("-")
