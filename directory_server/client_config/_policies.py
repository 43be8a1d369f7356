"""Policies: what the allow and deny lists of administrators compare of a server, and its fixed configuration.

Sources, November 2026: code.claude.com/docs/en/managed-mcp, the reference of enterprise managed settings and the guide
of MCP allow lists in docs.github.com, and `allowedMcpServers.ts` of VS Code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from attrs import frozen

from ._editors import Editor, Server
from ._server_config import Input, ServerConfig, display
from ._writers import claude_code

NoRule = Literal["input", "wildcard", "url"]
"""Why no rule matches exactly a server: the user enters a part of its URL or command, the URL contains `*`, for which
patterns have no escape, or the URL is not written as clients normalize it."""

_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?"
    # Characters that the WHATWG URL standard leaves as they are in a path and in a query.
    r"(?P<path>(?:/(?:[A-Za-z0-9._~!$&'()+,;=:@-]|%[0-9A-Fa-f]{2})*)*)"
    r"(?P<query>(?:\?(?:[A-Za-z0-9._~!$&()+,;=:@/?-]|%[0-9A-Fa-f]{2})+)?)"
)

_DOTS = re.compile(r"/(?:\.|%2e){1,2}(?=/|$)", re.IGNORECASE)
"""A segment of a path that clients resolve."""

_PORTS = {"http": 80, "https": 443}


@frozen
class Rule:
    """An entry of an allow or deny list: the exact `url` of a remote, or the words of a `command`."""

    url: str = ""
    command: tuple[str, ...] = ()


@frozen
class Deployment:
    """What administrators deploy of a package or remote: its `rule`, or why there is none.

    `definition` is the server in a configuration of Claude Code that needs no edits, None if the user must enter a
    value that is not secret, or read the warnings first.
    """

    rule: Rule | NoRule
    definition: Mapping[str, Any] | None


def deployment_of(editor: Editor, server: Server) -> Deployment:
    """Return what administrators deploy of a server; `editor` is Claude Code."""
    is_fixed = server.is_complete and not server.needs_review
    (definition,) = claude_code(editor, server).config["mcpServers"].values()
    return Deployment(_rule(server.config), definition if is_fixed else None)


def _rule(config: ServerConfig) -> Rule | NoRule:
    if any(isinstance(part, Input) for text in (*config.arguments, config.url) for part in text):
        return "input"
    if config.command:
        return Rule(command=(config.command, *map(display, config.arguments)))
    url = display(config.url)
    if "*" in url:
        return "wildcard"
    parts = _URL.fullmatch(url)
    if parts is None or _DOTS.search(parts["path"]):
        return "url"
    port = "" if parts["port"] is None or int(parts["port"]) == _PORTS[parts["scheme"]] else f":{int(parts['port'])}"
    return Rule(url=f"{parts['scheme']}://{parts['host']}{port}{parts['path'] or '/'}{parts['query']}")
