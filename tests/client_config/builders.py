"""Builders of packages and remotes, and helpers for their installations."""

from __future__ import annotations

from typing import Any

from directory_server.client_config import Installation, installations
from directory_server.domain.entries import mcp_id_of

STDIO = {"type": "stdio"}
SECRET = {"name": "API_KEY", "description": "Your key", "isRequired": True, "isSecret": True}


def package(kind: str = "npm", identifier: str = "@a/b", **more: Any) -> dict[str, Any]:
    return {"registryType": kind, "identifier": identifier, "transport": STDIO, **more}


def remote(url: str = "https://a.example/mcp", **more: Any) -> dict[str, Any]:
    return {"type": "streamable-http", "url": url, **more}


def ways(*packages: Any, remotes: Any = (), name: str = "io.github.a/b") -> tuple[Installation, ...]:
    return installations(name, mcp_id_of(name), packages, remotes)


def only(*packages: Any, remotes: Any = ()) -> Installation:
    [way] = ways(*packages, remotes=remotes)
    return way


def named(name: str, value: str | None = None, **more: Any) -> dict[str, Any]:
    return {"type": "named", "name": name, "isRequired": True, **({} if value is None else {"value": value}), **more}


def positional(value: str) -> dict[str, Any]:
    return {"type": "positional", "value": value}


def configs(way: Installation) -> dict[str, Any]:
    return {each.editor: each.config for each in way.configurations}


def server(way: Installation, editor: str = "Cursor") -> Any:
    config = configs(way)[editor]
    [found] = (config.get("servers") or config["mcpServers"]).values()
    return found
