"""The configuration formats of editors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from ._server_config import ServerConfig
from ._values import Input, Template, shown

Fill = Callable[[Template], str]


@frozen
class Configuration:
    """The content of the configuration `file` of an editor: `config` is JSON, for an empty file."""

    editor: str
    file: str
    config: Mapping[str, Any]


def configurations(key: str, prefix: str, server: ServerConfig) -> tuple[Configuration, ...]:
    """Return the configuration of `server` for each editor, under `key`. `prefix` is the prefix of input ids."""
    return (
        Configuration("VS Code", ".vscode/mcp.json", _vs_code(key, prefix, server)),
        Configuration("Cursor", "~/.cursor/mcp.json", {"mcpServers": {key: _plain(server, "url")}}),
        Configuration("Claude Code", ".mcp.json", {"mcpServers": {key: _typed(server, shown)}}),
        Configuration(
            "Windsurf", "~/.codeium/windsurf/mcp_config.json", {"mcpServers": {key: _plain(server, "serverUrl")}}
        ),
        Configuration("Others", "mcp.json", {"mcpServers": {key: _typed(server, shown)}}),
    )


def _vs_code(key: str, prefix: str, server: ServerConfig) -> Mapping[str, Any]:
    known = {each.name: each for each in server.inputs}
    questions = [_question(prefix, known[name]) for name in dict.fromkeys(each.name for each in server.asked)]
    inputs = {"inputs": questions} if questions else {}

    def asked(text: Template) -> str:
        return "".join(f"${{input:{_id(prefix, part)}}}" if isinstance(part, Input) else part for part in text)

    return {**inputs, "servers": {key: _typed(server, asked)}}


def _id(prefix: str, asked: Input) -> str:
    return f"{prefix}-{asked.name}"


def _question(prefix: str, asked: Input) -> Mapping[str, Any]:
    question = {"id": _id(prefix, asked), "description": asked.description or asked.name}
    if asked.choices and not asked.secret:
        return {"type": "pickString", **question, "options": list(asked.choices)}
    return {"type": "promptString", **question, **({"password": True} if asked.secret else {})}


def _typed(server: ServerConfig, fill: Fill) -> Mapping[str, Any]:
    kind = "stdio" if server.command else "sse" if server.kind == "sse" else "http"
    return {"type": kind, **_body(server, "url", fill)}


def _plain(server: ServerConfig, url: str) -> Mapping[str, Any]:
    return _body(server, url, shown)


def _body(server: ServerConfig, url: str, fill: Fill) -> Mapping[str, Any]:
    given = {name: fill(text) for name, text in server.given.items()}
    if server.command:
        arguments = [fill(text) for text in server.arguments]
        return {"command": server.command, "args": arguments, **({"env": given} if given else {})}
    return {url: fill(server.url), **({"headers": given} if given else {})}
