"""Keys of servers, ids of inputs and names of variables in the configurations of editors."""

from __future__ import annotations

import re
from base64 import b32encode
from collections.abc import Iterable

from attrs import frozen

_HOSTING = ("io.github", "com.github", "io.gitlab", "com.gitlab")
"""Namespaces in which the next label is the owner."""

_GENERIC = frozenset({"mcp", "server", "servers", "mcpserver", "remote"})
"""Words that say nothing about a server. No key begins with one, so none is `mcp-directory`, the key of ours."""

_RESERVED = frozenset({"ide", "workspace", "claude-in-chrome", "computer-use"})
"""Keys of servers that Claude Code brings itself."""

MAX_KEY = 20
"""Characters of a key."""

MIN_KEY = 3
"""Characters that a key may always have, however long the names of the tools are."""

MAX_TOOL_NAME = 60
"""Characters of the name of a tool in an editor, such as `mcp__github__create_issue`. Cursor hides longer ones."""

_AROUND = len("mcp____")
"""Characters that editors put around the key of a server and the name of a tool."""


@frozen
class Names:
    """Names in the configurations of a server: its `key`, the prefix of input ids, and that of variables."""

    key: str
    inputs: str
    variables: str


def names_of(server_name: str, mcp_id: str, tools: Iterable[str] = ()) -> Names:
    """Return the names of a server with these tools.

    The key is short, because editors put it in front of each tool's name. A publisher can choose the key of another
    server, which an editor then replaces or refuses; secrets are safe from that. VS Code stores the values of all
    servers by input id, so the id has 74 bits of the hash of the whole name, and a variable 48 bits.
    """
    longest = max(map(len, tools), default=0)
    digits = mcp_id.replace("-", "")
    return Names(
        _key(server_name, max(MIN_KEY, min(MAX_KEY, MAX_TOOL_NAME - _AROUND - longest))),
        digits[-20:],
        f"MCP_{digits[-12:].upper()}",
    )


def deployed_key(server_name: str, mcp_id: str) -> str:
    """Return the key of a server in files for many machines: other entries and tools do not change it.

    Else a machine would find another server under a key, with the consent and the login of the first one. It has 62
    bits of the hash of the whole name, so nobody finds another name with the same key.
    """
    digits = b32encode(bytes.fromhex(mcp_id.replace("-", "")[-16:])).decode().strip("=").lower()
    return f"{_key(server_name, MAX_KEY - 1 - len(digits))}-{digits}"


def _key(server_name: str, limit: int) -> str:
    """Return the last part of a server's name, without generic words, in characters that all editors allow."""
    namespace, _, name = server_name.rpartition("/")
    labels = namespace.split(".")
    owner = _words((labels[2:] if ".".join(labels[:2]) in _HOSTING else labels[1:] or labels)[:1])
    words = _words([name]) or owner or ["server"]
    return _joined(owner + words if "-".join(words) in _RESERVED else words, limit)


def _words(texts: Iterable[str]) -> list[str]:
    return [word for word in re.findall("[a-z0-9]+", "".join(texts)[:200].lower()) if word not in _GENERIC]


def _joined(words: Iterable[str], limit: int) -> str:
    """Return the first words, joined with hyphens, that have at most `limit` characters together."""
    key = ""
    for word in words:
        longer = f"{key}-{word}" if key else word[:limit]
        if len(longer) > limit:
            break
        key = longer
    return key
