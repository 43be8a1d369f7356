"""The marketplace file of Claude Code: a plugin for each entry that can be installed.

Source: code.claude.com/docs/en/plugin-marketplaces and /plugins-reference, November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any
from urllib.parse import urlsplit

from attrs import define, field

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


MAX_CACHED, MAX_CACHED_SIZE = 2_000, 4_000
"""Plugins in memory, and bytes of each. Real ones have some 500."""


@define
class Plugins:
    """The plugins of documents, which are a function of these: the newest MAX_CACHED are in memory."""

    _encoded: dict[bytes, bytes] = field(factory=dict, init=False)

    def of(self, body: bytes, source: str) -> bytes:
        """Return the plugin of an encoded entry, empty if it cannot be installed. Threads may call it."""
        digest = blake2b(b"%s\0%s" % (source.encode(), body), digest_size=16).digest()
        plugin = self._encoded.get(digest)
        if plugin is None:
            entry = restore_entry(body)
            servers = _servers(entry)
            plugin = b"" if servers is None else encode(_plugin(entry, servers, source))
            if len(self._encoded) >= MAX_CACHED:
                self._encoded.clear()
            if len(plugin) <= MAX_CACHED_SIZE:
                self._encoded[digest] = plugin
        return plugin


def marketplace(plugins: Plugins, versions: Sequence[Version], base_url: str, source: str, selection: str) -> bytes:
    """Return the marketplace of `versions`, the entries of a `selection`: a query, and a list.

    `source` is the URL of the repository of all plugins. A user can have one marketplace of a name, so other selections
    have other names.
    """
    chosen: list[bytes] = []
    size = 0
    for plugin in filter(None, (plugins.of(version.body, source) for version in versions)):
        size += len(plugin)
        if size > MAX_BYTES:
            break
        chosen.append(plugin)
    host = _slug(urlsplit(base_url).hostname or "") or "directory"
    suffix = f"-{blake2b(selection.encode(), digest_size=4).hexdigest()}" if selection else ""
    head = encode(
        {
            "name": f"mcp-{host[: MAX_NAME - 13]}{suffix}",
            "owner": {"name": host, "url": base_url},
            "description": "Servers of the MCP directory" + (f' for "{selection}".' if selection else "."),
        }
    )
    return head[:-1] + b',"plugins":[' + b",".join(chosen) + b"]}"


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


def plugin_name(entry: Entry) -> str:
    """Return the name of the plugin of an entry: a function of the whole name of the entry and of nothing else.

    A slug alone has many names. Its digits are 62 bits of a hash, so nobody finds another name with the same ones.
    """
    digits = entry.mcp_id.replace("-", "")[-16:]
    return f"{_slug(entry.name)[: MAX_NAME - 17].strip('-')}-{digits}".lstrip("-")


def _plugin(entry: Entry, servers: Mapping[str, Any], source: str) -> dict[str, Any]:
    hit = shown_hit(entry)
    namespace = hit.server_name.partition("/")[0]
    return {
        "name": plugin_name(entry),
        "description": hit.brief or hit.name,
        "version": entry.version[:100],
        "author": {"name": namespace},
        **({"homepage": hit.website_url} if hit.website_url else {}),
        "source": {"source": "url", "url": source},
        # The entry defines the whole plugin: its repository has one text.
        "strict": False,
        "mcpServers": servers,
    }


def _slug(text: str) -> str:
    """Return a name of lower-case letters, digits and hyphens, as Claude Code demands."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:MAX_NAME].rstrip("-")
