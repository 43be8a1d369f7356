"""Editors: the file of each one, and how it names a server.

Sources: code.visualstudio.com/api/extension-guides/ai/mcp, cursor.com/docs/mcp and /install-links,
code.claude.com/docs/en/mcp, developers.openai.com/codex/mcp, geminicli.com/docs/tools/mcp-server,
docs.windsurf.com/windsurf/cascade/mcp, zed.dev/docs/ai/mcp, jetbrains.com/help/ai-assistant/mcp.html.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from attrs import field, frozen

from ._notices import REVIEWED
from ._server_config import Input, ServerConfig, Template, display

Fill = Callable[[Template], str]
"""Returns a template as text, with the editor's form of each input."""

Secrets = Literal["", "prompt", "variable", "file"]
"""Where the secrets of a configuration are: there are none, the editor asks, environment variables, the file."""


@frozen
class Setup:
    """Setup of the server in the editor `id`: the content `config` of its `file`.

    `vscode_link` and `cursor_link` are what their install links contain, None if the user must complete the
    configuration or read the warnings first. `command` are the words of a command that does the same.
    """

    id: str
    name: str
    file: str
    config: Mapping[str, Any]
    secrets: Secrets = ""
    is_toml: bool = False
    vscode_link: Mapping[str, Any] | None = None
    cursor_link: tuple[str, Mapping[str, Any]] | None = None
    command: Sequence[str] = ()


@frozen
class Server:
    """A server for the writers of configurations: its key, the prefix of input ids, and variables by input name."""

    key: str
    prefix: str
    config: ServerConfig
    variables: Mapping[str, str]

    @property
    def transport(self) -> str:
        """The transport: stdio, http or sse."""
        return "stdio" if self.config.command else "sse" if self.config.kind == "sse" else "http"

    def reference(self, form: str) -> Fill:
        """Return a fill that writes secrets as references, such as `${{env:{}}}`, and other inputs as `<name>`."""

        def fill(text: Template) -> str:
            return "".join(self._reference(part, form) if isinstance(part, Input) else part for part in text)

        return fill

    def variable(self, text: Template) -> str:
        """Return the variable of a text that is one secret, else an empty string."""
        only = text[0] if len(text) == 1 else None
        return self.variables.get(only.name, "") if isinstance(only, Input) else ""

    @property
    def is_complete(self) -> bool:
        """Whether all inputs that the configuration contains are secrets."""
        return all(each.name in self.variables for each in self.config.used_inputs)

    @property
    def needs_review(self) -> bool:
        """Whether a person must read the warnings first."""
        return any(notice.code in REVIEWED for notice in self.config.warnings)

    def _reference(self, part: Input, form: str) -> str:
        variable = self.variables.get(part.name)
        return f"<{part.name}>" if variable is None else form.format(variable)


@frozen
class Editor:
    """An editor: `make` returns the setup of a server whose transport is one of `transports`."""

    id: str
    name: str
    file: str
    make: Callable[[Editor, Server], Setup]
    secrets: Secrets = "file"
    transports: Sequence[str] = field(default=("stdio", "http", "sse"))
    is_in_apis: bool = False
    """Whether the APIs have its configuration. They have few, because the size of their details is bounded."""

    def setup(self, config: Mapping[str, Any], server: Server, secrets: Secrets | None = None, **more: Any) -> Setup:
        """Return a setup with this configuration; `secrets` says where it has its secrets, if it has some."""
        found = (secrets or self.secrets) if server.variables else ""
        if server.needs_review:
            more |= {"vscode_link": None, "cursor_link": None}
        return Setup(self.id, self.name, self.file, config, found, **more)


def _vs_code(editor: Editor, server: Server) -> Setup:
    asked = _prompts(server.prefix, server.config)
    inputs = {"inputs": asked} if asked else {}
    definition = _typed(server.config, _with_prompts(server.prefix))
    config = {**inputs, "servers": {server.key: definition}}
    return editor.setup(config, server, vscode_link={"name": server.key, **definition, **inputs})


def _cursor(editor: Editor, server: Server) -> Setup:
    definition = _body(server.config, "url", server.reference("${{env:{}}}"))
    link = (server.key, definition) if server.is_complete else None
    return editor.setup({"mcpServers": {server.key: definition}}, server, cursor_link=link)


def _claude_code(editor: Editor, server: Server) -> Setup:
    fill = server.reference("${{{}}}")
    config = {"mcpServers": {server.key: _typed(server.config, fill)}}
    # An option with several values must not stand in front of the name, or its values would include the name.
    head = ("claude", "mcp", "add")
    tail = ("--scope", "project", "--transport", server.transport, server.key)
    texts = server.config.env_or_headers.items()
    if server.config.command:
        env = [word for name, text in texts for word in ("--env", f"{name}={fill(text)}")]
        command = [*head, *env, *tail, "--", server.config.command, *map(fill, server.config.arguments)]
    else:
        headers = [word for name, text in texts for word in ("--header", f"{name}: {fill(text)}")]
        command = [*head, *tail, fill(server.config.url), *headers]
    return editor.setup(config, server, command=command if server.is_complete else ())


def _codex(editor: Editor, server: Server) -> Setup:
    config = server.config
    if config.command:
        # Codex passes a variable on under its own name only, and the publisher has chosen that name.
        definition = _body(config, "url", display)
        return editor.setup({"mcp_servers": {server.key: definition}}, server, is_toml=True, secrets="file")
    definition = {"url": display(config.url)}
    fixed, variables = {}, {}
    secrets: Secrets = "variable"
    for name, text in config.env_or_headers.items():
        bearer = text[:1] == ("Bearer ",) and name.lower() == "authorization" and server.variable(text[1:])
        if bearer:
            definition["bearer_token_env_var"] = bearer
        elif variable := server.variable(text):
            variables[name] = variable
        else:
            fixed[name] = display(text)
    in_file = (config.url, *(config.env_or_headers[name] for name in fixed))
    if any(part.name in server.variables for text in in_file for part in text if isinstance(part, Input)):
        secrets = "file"
    headers = {"http_headers": fixed} if fixed else {}
    from_env = {"env_http_headers": variables} if variables else {}
    whole = {"mcp_servers": {server.key: {**definition, **headers, **from_env}}}
    return editor.setup(whole, server, is_toml=True, secrets=secrets)


def _gemini(editor: Editor, server: Server) -> Setup:
    definition = _body(server.config, "url" if server.transport == "sse" else "httpUrl", server.reference("${{{}}}"))
    return editor.setup({"mcpServers": {server.key: definition}}, server)


def _listed(servers: str, url: str = "url", reference: str = "") -> Callable[[Editor, Server], Setup]:
    """Return a writer of the object `servers`, which has each server under its key, with the URL as the member `url`.

    `reference` is the form of a reference to an environment variable, empty if the editor has none.
    """

    def write(editor: Editor, server: Server) -> Setup:
        fill = server.reference(reference) if reference else display
        return editor.setup({servers: {server.key: _body(server.config, url, fill)}}, server)

    return write


def _others(editor: Editor, server: Server) -> Setup:
    return editor.setup({"mcpServers": {server.key: _typed(server.config, display)}}, server)


def _typed(server: ServerConfig, fill: Fill) -> Mapping[str, Any]:
    """Return the definition of a server with its transport as `type`."""
    kind = "stdio" if server.command else "sse" if server.kind == "sse" else "http"
    return {"type": kind, **_body(server, "url", fill)}


def _body(server: ServerConfig, url: str, fill: Fill) -> dict[str, Any]:
    """Return the definition of a server: its command, or its URL as the member `url`."""
    env_or_headers = {name: fill(text) for name, text in server.env_or_headers.items()}
    if server.command:
        arguments = [fill(text) for text in server.arguments]
        return {"command": server.command, "args": arguments, **({"env": env_or_headers} if env_or_headers else {})}
    return {url: fill(server.url), **({"headers": env_or_headers} if env_or_headers else {})}


def _prompts(prefix: str, server: ServerConfig) -> Sequence[Mapping[str, Any]]:
    """Return the inputs of VS Code for the inputs that the configuration contains."""
    known = {each.name: each for each in server.inputs}
    return [_prompt(prefix, known[name]) for name in dict.fromkeys(each.name for each in server.used_inputs)]


def _with_prompts(prefix: str) -> Fill:
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


EDITORS = (
    Editor("vscode", "VS Code", ".vscode/mcp.json", _vs_code, "prompt", is_in_apis=True),
    Editor("cursor", "Cursor", "~/.cursor/mcp.json", _cursor, "variable", is_in_apis=True),
    Editor("claude-code", "Claude Code", ".mcp.json", _claude_code, "variable", is_in_apis=True),
    Editor(
        "claude-desktop",
        "Claude Desktop",
        "Settings | Developer | Edit Config (claude_desktop_config.json)",
        _listed("mcpServers"),
        transports=("stdio",),
    ),
    Editor("codex", "Codex", "~/.codex/config.toml", _codex, transports=("stdio", "http")),
    Editor("gemini", "Gemini CLI", "~/.gemini/settings.json", _gemini, "variable"),
    Editor(
        "windsurf",
        "Windsurf",
        "~/.codeium/windsurf/mcp_config.json",
        _listed("mcpServers", "serverUrl", "${{env:{}}}"),
        "variable",
        is_in_apis=True,
    ),
    Editor("zed", "Zed", "~/.config/zed/settings.json", _listed("context_servers"), transports=("stdio", "http")),
    Editor(
        "jetbrains",
        "JetBrains",
        "Settings | Tools | AI Assistant | Model Context Protocol (MCP)",
        _listed("mcpServers"),
    ),
    Editor("others", "Others", "mcp.json", _others, is_in_apis=True),
)
