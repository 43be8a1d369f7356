"""Setups: how a server is added to each editor, without secrets in files where the editor allows that.

Sources: code.visualstudio.com/api/extension-guides/ai/mcp, cursor.com/docs/mcp and /install-links,
code.claude.com/docs/en/mcp, developers.openai.com/codex/mcp, geminicli.com/docs/tools/mcp-server,
docs.windsurf.com/windsurf/cascade/mcp, zed.dev/docs/ai/mcp, jetbrains.com/help/ai-assistant/mcp.html.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Literal

from attrs import evolve, field, frozen

from ._editors import Fill, body, prompts, typed, with_prompts
from ._notices import REVIEWED
from ._server_config import Input, ServerConfig, Template, display

Secrets = Literal["", "prompt", "variable", "file"]
"""Where the secrets of a configuration are: there are none, the editor asks, environment variables, the file."""

_SECRET_NAME = re.compile(
    r"(?:api|access|auth|secret|private|account)[_-]?key|token|secret|passw(?:or)?d|credential|authorization", re.I
)
"""Names of inputs that are secret even if the publisher does not say so."""


@frozen
class SetupInput:
    """A value that the user provides: `variable` is the environment variable for it, empty if it is not secret.

    `is_used` is whether the configurations contain it; other inputs are optional and left out.
    """

    name: str
    description: str
    secret: bool
    variable: str
    is_used: bool


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
class Missing:
    """An editor without a setup, and the reason: `remote` (adds URLs in its settings), `sse` (transport)."""

    name: str
    reason: Literal["remote", "sse"]


@frozen
class Setups:
    """The setups of a server, the inputs that they share, and the editors that cannot use the server.

    With `needs_review`, a person must read the warnings first, and no setup has an install link.
    """

    setups: Sequence[Setup]
    inputs: Sequence[SetupInput]
    missing: Sequence[Missing]
    needs_review: bool = False


@frozen
class _Server:
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
class _Editor:
    """An editor: `make` returns the setup of a server whose transport is one of `transports`."""

    id: str
    name: str
    file: str
    make: Callable[[_Editor, _Server], Setup]
    secrets: Secrets = "file"
    transports: Sequence[str] = field(default=("stdio", "http", "sse"))

    def setup(self, config: Mapping[str, Any], server: _Server, secrets: Secrets | None = None, **more: Any) -> Setup:
        """Return a setup with this configuration; `secrets` says where it has its secrets, if it has some."""
        found = (secrets or self.secrets) if server.variables else ""
        if server.needs_review:
            more |= {"vscode_link": None, "cursor_link": None}
        return Setup(self.id, self.name, self.file, config, found, **more)


def setups(key: str, prefix: str, unique: str, server: ServerConfig) -> Setups:
    """Return the setups of `server` under `key`. `prefix` is that of input ids, `unique` that of variables.

    The variables are ours: a publisher who could choose a name could read a variable that the user already has.
    """
    used = {each.name: each for each in server.used_inputs}
    variables = dict(_variables(unique, (each for each in used.values() if _is_secret(each))))
    # VS Code hides what is entered for a secret.
    marked = [evolve(each, secret=_is_secret(each)) for each in server.inputs]
    one = _Server(key, prefix, evolve(server, inputs=marked), variables)
    inputs = [
        SetupInput(each.name, each.description, each.secret, variables.get(each.name, ""), is_used=each.name in used)
        for each in marked
    ]
    return Setups(
        [each.make(each, one) for each in _EDITORS if one.transport in each.transports],
        inputs,
        [
            Missing(each.name, "remote" if each.transports == ("stdio",) else "sse")
            for each in _EDITORS
            if one.transport not in each.transports
        ],
        one.needs_review,
    )


def _is_secret(each: Input) -> bool:
    return each.secret or bool(_SECRET_NAME.search(each.name))


def _variables(unique: str, inputs: Iterator[Input]) -> Iterator[tuple[str, str]]:
    taken: set[str] = set()
    for each in inputs:
        name = f"MCP_{unique}_{re.sub('[^A-Z0-9]+', '_', each.name.upper()).strip('_')}"
        name = next(
            candidate for number in count(1) if (candidate := name if number == 1 else f"{name}_{number}") not in taken
        )
        taken.add(name)
        yield each.name, name


def _vs_code(editor: _Editor, server: _Server) -> Setup:
    asked = prompts(server.prefix, server.config)
    inputs = {"inputs": asked} if asked else {}
    definition = typed(server.config, with_prompts(server.prefix))
    config = {**inputs, "servers": {server.key: definition}}
    return editor.setup(config, server, vscode_link={"name": server.key, **definition, **inputs})


def _cursor(editor: _Editor, server: _Server) -> Setup:
    definition = body(server.config, "url", server.reference("${{env:{}}}"))
    link = (server.key, definition) if server.is_complete else None
    return editor.setup({"mcpServers": {server.key: definition}}, server, cursor_link=link)


def _claude_code(editor: _Editor, server: _Server) -> Setup:
    fill = server.reference("${{{}}}")
    config = {"mcpServers": {server.key: typed(server.config, fill)}}
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


def _codex(editor: _Editor, server: _Server) -> Setup:
    config = server.config
    if config.command:
        # Codex passes a variable on under its own name only, and the publisher has chosen that name.
        definition = body(config, "url", display)
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


def _gemini(editor: _Editor, server: _Server) -> Setup:
    definition = body(server.config, "url" if server.transport == "sse" else "httpUrl", server.reference("${{{}}}"))
    return editor.setup({"mcpServers": {server.key: definition}}, server)


def _windsurf(editor: _Editor, server: _Server) -> Setup:
    definition = body(server.config, "serverUrl", server.reference("${{env:{}}}"))
    return editor.setup({"mcpServers": {server.key: definition}}, server)


def _zed(editor: _Editor, server: _Server) -> Setup:
    return editor.setup({"context_servers": {server.key: body(server.config, "url", display)}}, server)


def _plain(editor: _Editor, server: _Server) -> Setup:
    return editor.setup({"mcpServers": {server.key: body(server.config, "url", display)}}, server)


def _others(editor: _Editor, server: _Server) -> Setup:
    return editor.setup({"mcpServers": {server.key: typed(server.config, display)}}, server)


_EDITORS = (
    _Editor("vscode", "VS Code", ".vscode/mcp.json", _vs_code, "prompt"),
    _Editor("cursor", "Cursor", "~/.cursor/mcp.json", _cursor, "variable"),
    _Editor("claude-code", "Claude Code", ".mcp.json", _claude_code, "variable"),
    _Editor(
        "claude-desktop",
        "Claude Desktop",
        "Settings | Developer | Edit Config (claude_desktop_config.json)",
        _plain,
        transports=("stdio",),
    ),
    _Editor("codex", "Codex", "~/.codex/config.toml", _codex, transports=("stdio", "http")),
    _Editor("gemini", "Gemini CLI", "~/.gemini/settings.json", _gemini, "variable"),
    _Editor("windsurf", "Windsurf", "~/.codeium/windsurf/mcp_config.json", _windsurf, "variable"),
    _Editor("zed", "Zed", "~/.config/zed/settings.json", _zed, transports=("stdio", "http")),
    _Editor("jetbrains", "JetBrains", "Settings | Tools | AI Assistant | Model Context Protocol (MCP)", _plain),
    _Editor("others", "Others", "mcp.json", _others),
)
