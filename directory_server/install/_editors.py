"""A server in the forms that editors keep it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from ._server import Server
from ._texts import Input, Text

Fill = Callable[[Text], str]


@frozen
class Configuration:
    """What to put into the `file` of an editor: `config` is its JSON, for a file that holds nothing else yet."""

    editor: str
    file: str
    config: Mapping[str, Any]


def configurations(key: str, server: Server) -> tuple[Configuration, ...]:
    """Return `server`, called `key`, as each editor wants it."""
    return (
        Configuration("VS Code", ".vscode/mcp.json", _vs_code(key, server)),
        Configuration("Cursor", "~/.cursor/mcp.json", {"mcpServers": {key: _plain(server, "url")}}),
        Configuration("Claude Code", ".mcp.json", {"mcpServers": {key: _typed(server, _bracketed)}}),
        Configuration(
            "Windsurf", "~/.codeium/windsurf/mcp_config.json", {"mcpServers": {key: _plain(server, "serverUrl")}}
        ),
        Configuration("Others", "mcp.json", {"mcpServers": {key: _typed(server, _bracketed)}}),
    )


def _vs_code(key: str, server: Server) -> Mapping[str, Any]:
    known = {each.name: each for each in server.inputs}
    questions = [_question(known[name]) for name in dict.fromkeys(each.name for each in server.asked)]
    inputs = {"inputs": questions} if questions else {}
    return {**inputs, "servers": {key: _typed(server, _asked)}}


def _question(asked: Input) -> Mapping[str, Any]:
    question = {"id": asked.name, "description": asked.description or asked.name}
    if asked.choices and not asked.secret:
        return {"type": "pickString", **question, "options": list(asked.choices)}
    return {"type": "promptString", **question, **({"password": True} if asked.secret else {})}


def _typed(server: Server, fill: Fill) -> Mapping[str, Any]:
    kind = "stdio" if server.command else "sse" if server.kind == "sse" else "http"
    return {"type": kind, **_body(server, "url", fill)}


def _plain(server: Server, url: str) -> Mapping[str, Any]:
    return _body(server, url, _bracketed)


def _body(server: Server, url: str, fill: Fill) -> Mapping[str, Any]:
    given = {name: fill(text) for name, text in server.given.items()}
    if server.command:
        arguments = [fill(text) for text in server.arguments]
        return {"command": server.command, "args": arguments, **({"env": given} if given else {})}
    return {url: fill(server.url), **({"headers": given} if given else {})}


def _bracketed(text: Text) -> str:
    return "".join(f"<{part.name}>" if isinstance(part, Input) else part for part in text)


def _asked(text: Text) -> str:
    return "".join(f"${{input:{part.name}}}" if isinstance(part, Input) else part for part in text)
