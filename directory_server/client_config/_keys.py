"""Keys of servers and ids of inputs in the configurations of editors."""

from __future__ import annotations

import re

_HOSTING = ("io.github", "com.github", "io.gitlab", "com.gitlab")
"""Namespaces in which the next label is the owner."""

_GENERIC = re.compile(r"(?:^|-)(?:mcp|server)(?=-|$)")

MAX_SLUG = 20
"""Characters. Editors put the key in front of each tool's name, which many models limit to 64 characters."""


def slug(server_name: str) -> str:
    """Return a short name of the server and its owner, in characters that all editors allow."""
    namespace, _, name = server_name.rpartition("/")
    labels = namespace.split(".")
    owner = _ascii_slug((labels[2:] if ".".join(labels[:2]) in _HOSTING else labels[1:] or labels)[:1])
    name = _ascii_slug([name])
    short = _GENERIC.sub("", name.lower()).strip("-") or name.lower()
    whole = short if not owner or short == owner or short.startswith(f"{owner}-") else f"{owner[:10]}-{short}"
    return whole[:MAX_SLUG].strip("-") or "server"


def server_key(server_name: str, mcp_id: str) -> str:
    """Return the key of the server in an editor's configuration.

    It ends with the last group of the `mcp_id`, 48 bits of the hash of the whole name, so that servers with the same
    last part of the name have different keys.
    """
    return f"{slug(server_name)}-{mcp_id.rpartition('-')[2]}"


def input_prefix(server_name: str, mcp_id: str) -> str:
    """Return the prefix of the ids of the server's inputs.

    VS Code stores the values of all servers by input id, secrets included, so the id has the whole `mcp_id`.
    """
    return f"{slug(server_name)}-{mcp_id}"


def _ascii_slug(texts: list[str]) -> str:
    return re.sub(r"[^a-z0-9_-]+", "-", "".join(texts)[:60].lower()).strip("-_")
