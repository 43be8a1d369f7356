"""Writers: the setup of a server in the format of each editor.

Sources, November 2026: code.visualstudio.com/docs/copilot/reference/mcp-configuration and /api/extension-guides/ai/mcp,
learn.microsoft.com/visualstudio/ide/mcp-servers, cursor.com/docs/mcp and /install-links, code.claude.com/docs/en/mcp,
github.com/geelen/mcp-remote, developers.openai.com/codex/mcp, geminicli.com/docs/tools/mcp-server,
qwenlm.github.io/qwen-code-docs/en/users/features/mcp, opencode.ai/docs/mcp-servers,
docs.windsurf.com/windsurf/cascade/mcp, zed.dev/docs/ai/mcp, jetbrains.com/help/ai-assistant/mcp.html,
docs.cline.bot/mcp/mcp-overview, docs.roocode.com/features/mcp/using-mcp-in-roo, docs.continue.dev (MCP, JSON files),
block.github.io/goose/docs/guides/config-files, kiro.dev/docs/mcp/configuration, lmstudio.ai/docs/app/mcp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._editors import Editor, Fill, Secrets, Server, Setup, Word
from ._packages import SHELL
from ._server_config import Input, ServerConfig, Template, display, flat

Writer = Callable[[Editor, Server], Setup | None]


def vs_code(editor: Editor, server: Server) -> Setup:
    """Write `servers` and the `inputs` that the editor asks for."""
    asked = _prompts(server.names.inputs, server.config)
    inputs = {"inputs": asked} if asked else {}
    definition = _typed(server.config, _with_prompts(server.names.inputs))
    config = {**inputs, "servers": {server.key: definition}}
    link = {"name": server.key, **definition, **inputs}
    command: list[Word] = ["code", "--add-mcp", link] if editor.id == "vscode" else []
    return editor.setup(config, server, link=(server.key, link), command=[] if server.needs_review else command)


def claude_code(editor: Editor, server: Server) -> Setup:
    """Write `mcpServers` with a type."""
    fill = server.reference("${{{}}}")
    return editor.setup(
        {"mcpServers": {server.key: _typed(server.config, fill)}},
        server,
        # An option with several values must not stand in front of the name, or its values would include the name.
        command=_add_command("claude", server, fill) if server.is_complete else (),
    )


def gemini(editor: Editor, server: Server) -> Setup:
    """Write `mcpServers` for Gemini CLI and its fork Qwen Code, which read `url` as the address of an SSE stream."""
    fill = server.reference("${{{}}}")
    definition = _body(server.config, "url" if server.transport == "sse" else "httpUrl", fill)
    command = _add_command(editor.id, server, fill) if server.is_complete else ()
    return editor.setup({"mcpServers": {server.key: definition}}, server, command=command)


def claude_desktop(editor: Editor, server: Server) -> Setup | None:
    """Write `mcpServers`; a remote server needs the package mcp-remote.

    Connectors of Claude Desktop are called from the cloud, and cannot reach a private address or send a key. The
    headers are in variables, because Claude Desktop on Windows does not quote arguments with spaces.
    """
    config = server.config
    if config.command:
        return editor.setup({"mcpServers": {server.key: _body(config, "url", display)}}, server)
    if any(SHELL.search(flat(text)) for text in (config.url, *((name,) for name in config.env_or_headers))):
        return None
    url = display(config.url)
    options = ["--transport", "sse-only"] if server.transport == "sse" else []
    options += ["--allow-http"] if url.startswith("http://") else []
    # The names of the variables are ours: a publisher could choose one that changes what runs.
    headers = {f"HEADER_{number}": item for number, item in enumerate(config.env_or_headers.items(), 1)}
    for variable, (name, _) in headers.items():
        options += ["--header", f"{name}:${{{variable}}}"]
    env = {variable: display(text) for variable, (_, text) in headers.items()}
    definition = {"command": "npx", "args": ["-y", "mcp-remote@latest", url, *options], **({"env": env} if env else {})}
    return editor.setup({"mcpServers": {server.key: definition}}, server)


def codex(editor: Editor, server: Server) -> Setup:
    """Write a table of TOML, with variables for secrets that are whole values of headers."""
    config = server.config
    if config.command:
        # Codex passes a variable on under its own name only, and the publisher has chosen that name.
        definition = _body(config, "url", display)
        command = () if server.has_inputs else _codex_command(server)
        return editor.setup({"mcp_servers": {server.key: definition}}, server, secrets="file", command=command)
    bearer, fixed, variables = "", {}, {}
    for name, text in config.env_or_headers.items():
        if text[:1] == ("Bearer ",) and name.lower() == "authorization" and server.variable(text[1:]):
            bearer = server.variable(text[1:])
        elif variable := server.variable(text):
            variables[name] = variable
        else:
            fixed[name] = display(text)
    secrets: Secrets = "variable"
    in_file = (config.url, *(config.env_or_headers[name] for name in fixed))
    if any(part.name in server.variables for text in in_file for part in text if isinstance(part, Input)):
        secrets = "file"
    definition = {
        "url": display(config.url),
        **({"bearer_token_env_var": bearer} if bearer else {}),
        **({"http_headers": fixed} if fixed else {}),
        **({"env_http_headers": variables} if variables else {}),
    }
    is_short = not fixed and not variables and server.is_complete and secrets == "variable"
    command = ["codex", "mcp", "add", server.key, "--url", display(config.url)] if is_short else []
    command += ["--bearer-token-env-var", bearer] if command and bearer else []
    return editor.setup({"mcp_servers": {server.key: definition}}, server, secrets=secrets, command=command)


def opencode(editor: Editor, server: Server) -> Setup:
    """Write the object `mcp`, in which a command is one list."""
    config, fill = server.config, server.reference("{{env:{}}}")
    texts = {name: fill(text) for name, text in config.env_or_headers.items()}
    if config.command:
        definition: dict[str, Any] = {"type": "local", "command": [config.command, *map(fill, config.arguments)]}
        definition |= {"environment": texts} if texts else {}
    else:
        definition = {"type": "remote", "url": fill(config.url)}
        # Without a key that is ours, a server may ask for a sign-in with OAuth.
        definition |= {"headers": texts} if texts else {}
    return editor.setup({"$schema": "https://opencode.ai/config.json", "mcp": {server.key: definition}}, server)


def goose(editor: Editor, server: Server) -> Setup:
    """Write an entry of `extensions` in YAML."""
    config = server.config
    texts = {name: display(text) for name, text in config.env_or_headers.items()}
    common = {"enabled": True, "name": server.key, "description": ""}
    if config.command:
        arguments = [display(text) for text in config.arguments]
        own = {"type": "stdio", "cmd": config.command, "args": arguments, **({"envs": texts} if texts else {})}
    else:
        own = {"type": "streamable_http", "uri": display(config.url), **({"headers": texts} if texts else {})}
    return editor.setup({"extensions": {server.key: {**common, **own, "timeout": 300}}}, server)


def listed(
    servers: str = "mcpServers", url: str = "url", reference: str = "", kind: str = "", *, links: bool = False
) -> Writer:
    """Return a writer of the object `servers`, which has each server under its key, with the URL as the member `url`.

    `reference` is the form of a reference to an environment variable, empty if the editor has none. `kind` is the
    `type` of a server with Streamable HTTP, empty if the editor needs none. With `links`, the editor has install links.
    """

    def write(editor: Editor, server: Server) -> Setup:
        definition = _body(server.config, url, server.reference(reference) if reference else display)
        if kind and not server.config.command:
            definition = {"type": "sse" if server.transport == "sse" else kind, **definition}
        is_ready = server.is_complete if reference else not server.has_inputs
        link = (server.key, definition) if links and is_ready else None
        return editor.setup({servers: {server.key: definition}}, server, link=link)

    return write


def typed(editor: Editor, server: Server) -> Setup:
    """Write `mcpServers` with a type, and inputs as `<name>`."""
    return editor.setup({"mcpServers": {server.key: _typed(server.config, display)}}, server)


def _add_command(program: str, server: Server, fill: Fill) -> Sequence[str]:
    """Return the words of `claude mcp add` and of the commands that imitate it."""
    config = server.config
    head = (program, "mcp", "add", "--scope", "user")
    tail = ("--transport", server.transport, server.key)
    texts = config.env_or_headers.items()
    if config.command:
        env = [word for name, text in texts for word in ("--env", f"{name}={fill(text)}")]
        return [*head, *env, *tail, "--", config.command, *map(fill, config.arguments)]
    return [*head, *tail, fill(config.url), *(w for name, text in texts for w in ("--header", f"{name}: {fill(text)}"))]


def _codex_command(server: Server) -> Sequence[str]:
    config = server.config
    env = [word for name, text in config.env_or_headers.items() for word in ("--env", f"{name}={display(text)}")]
    return ["codex", "mcp", "add", server.key, *env, "--", config.command, *map(display, config.arguments)]


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
    known = {item.name: item for item in server.inputs}
    return [_prompt(prefix, known[name]) for name in dict.fromkeys(used.name for used in server.used_inputs)]


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
