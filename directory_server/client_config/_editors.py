"""Editor configurations: the format of each editor, keys of servers and ids of inputs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from ._server_config import Input, ServerConfig, Template, display

Fill = Callable[[Template], str]
"""Returns a template as text, with the editor's form of each input."""

_HOSTING = ("io.github", "com.github", "io.gitlab", "com.gitlab")
"""Namespaces in which the next label is the owner."""

_GENERIC = re.compile(r"(?:^|-)(?:mcp|server)(?=-|$)")

MAX_SLUG = 20
"""Characters. Editors put the key in front of each tool's name, which many models limit to 64 characters."""


@frozen
class Configuration:
    """The content of the configuration `file` of an editor: `config` is JSON, for an empty file."""

    editor: str = field(metadata={"description": "The editor's name."})
    file: str = field(metadata={"description": "Path of the editor's configuration file."})
    config: Mapping[str, Any] = field(metadata={"description": "JSON of a configuration file with only this server."})


def configurations(key: str, prefix: str, server: ServerConfig) -> tuple[Configuration, ...]:
    """Return the configuration of `server` for each editor, under `key`. `prefix` is the prefix of input ids."""
    return (
        Configuration("VS Code", ".vscode/mcp.json", _vs_code(key, prefix, server)),
        Configuration("Cursor", "~/.cursor/mcp.json", {"mcpServers": {key: body(server, "url", display)}}),
        Configuration("Claude Code", ".mcp.json", {"mcpServers": {key: typed(server, display)}}),
        Configuration(
            "Windsurf", "~/.codeium/windsurf/mcp_config.json", {"mcpServers": {key: body(server, "serverUrl", display)}}
        ),
        Configuration("Others", "mcp.json", {"mcpServers": {key: typed(server, display)}}),
    )


def _vs_code(key: str, prefix: str, server: ServerConfig) -> Mapping[str, Any]:
    asked = prompts(prefix, server)
    return {**({"inputs": asked} if asked else {}), "servers": {key: typed(server, with_prompts(prefix))}}


def prompts(prefix: str, server: ServerConfig) -> Sequence[Mapping[str, Any]]:
    """Return the inputs of VS Code for the inputs that the configuration contains."""
    known = {each.name: each for each in server.inputs}
    return [_prompt(prefix, known[name]) for name in dict.fromkeys(each.name for each in server.used_inputs)]


def with_prompts(prefix: str) -> Fill:
    """Return a fill with references to the inputs of VS Code."""

    def fill(text: Template) -> str:
        return "".join(f"${{input:{_id(prefix, part)}}}" if isinstance(part, Input) else part for part in text)

    return fill


def _id(prefix: str, input_: Input) -> str:
    return f"{prefix}-{input_.name}"


def _prompt(prefix: str, input_: Input) -> Mapping[str, Any]:
    prompt = {"id": _id(prefix, input_), "description": input_.description or input_.name}
    if input_.choices and not input_.secret:
        return {"type": "pickString", **prompt, "options": list(input_.choices)}
    return {"type": "promptString", **prompt, **({"password": True} if input_.secret else {})}


def typed(server: ServerConfig, fill: Fill) -> Mapping[str, Any]:
    """Return the definition of a server with its transport as `type`."""
    kind = "stdio" if server.command else "sse" if server.kind == "sse" else "http"
    return {"type": kind, **body(server, "url", fill)}


def body(server: ServerConfig, url: str, fill: Fill) -> dict[str, Any]:
    """Return the definition of a server: its command, or its URL as the member `url`."""
    env_or_headers = {name: fill(text) for name, text in server.env_or_headers.items()}
    if server.command:
        arguments = [fill(text) for text in server.arguments]
        return {"command": server.command, "args": arguments, **({"env": env_or_headers} if env_or_headers else {})}
    return {url: fill(server.url), **({"headers": env_or_headers} if env_or_headers else {})}


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
