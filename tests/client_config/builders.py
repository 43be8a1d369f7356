"""Builders of packages and remotes, and helpers for their installations."""

from __future__ import annotations

from typing import Any

from directory_server.client_config import Installation, installations
from directory_server.domain.entries import mcp_id_of

STDIO = {"type": "stdio"}
SECRET = {"name": "API_KEY", "description": "Your key", "isRequired": True, "isSecret": True}


def package(kind: str = "npm", identifier: str = "@a/b", **members: Any) -> dict[str, Any]:
    return {"registryType": kind, "identifier": identifier, "transport": STDIO, **members}


def remote(url: str = "https://a.example/mcp", **members: Any) -> dict[str, Any]:
    return {"type": "streamable-http", "url": url, **members}


def installations_of(*packages: Any, remotes: Any = (), name: str = "io.github.a/b") -> tuple[Installation, ...]:
    return installations(name, mcp_id_of(name), packages, remotes)


def installation_of(*packages: Any, remotes: Any = ()) -> Installation:
    """Return the only installation."""
    [installation] = installations_of(*packages, remotes=remotes)
    return installation


def named(name: str, value: str | None = None, **members: Any) -> dict[str, Any]:
    return {"type": "named", "name": name, "isRequired": True, **({} if value is None else {"value": value}), **members}


def positional(value: str) -> dict[str, Any]:
    return {"type": "positional", "value": value}


def configurations(installation: Installation) -> dict[str, Any]:
    """Return the configuration of each editor."""
    return {each.editor: each.config for each in installation.configurations}


def server_of(installation: Installation, editor: str = "Cursor") -> Any:
    """Return what an editor's configuration has for the server."""
    config = configurations(installation)[editor]
    [found] = (config.get("servers") or config["mcpServers"]).values()
    return found


def unavailable_code(installation: Any) -> str:
    """Return the code of the reason why there is no configuration."""
    assert installation.unavailable is not None, installation.configurations[1].config
    assert (installation.inputs, installation.configurations, installation.warnings) == ((), (), ())
    assert installation.note == installation.unavailable.message
    return str(installation.unavailable.code)


def warning_codes(installation: Any) -> set[str]:
    """Return the codes of the warnings of an available installation."""
    assert installation.unavailable is None, installation.note
    return {each.code for each in installation.warnings}


def runner_package(kind: str, *arguments: Any, **members: Any) -> dict[str, Any]:
    return package(kind, "a/b:1" if kind == "oci" else "a", runtimeArguments=list(arguments), **members)
