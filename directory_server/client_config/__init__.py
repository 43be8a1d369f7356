"""Editor configuration for a server, generated from the packages and remotes of its entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from attrs import evolve, field, frozen

from ..texts.sanitize import clean_line
from ._data import NOTICES
from ._editor_table import EDITORS
from ._editors import Editor, Server, Setup
from ._keys import Names, deployed_key, names_of
from ._notices import REASONS, WARNINGS, Notice, Unusable
from ._packages import package_config
from ._policies import Deployment, NoRule, Rule, deployment_of
from ._remotes import remote_config
from ._server_config import Input, ServerConfig, Template, as_text
from ._setups import Configuration, Missing, SetupInput, Setups, configurations, whole_server
from ._setups import setups as setups_of

__all__ = [
    "EDITORS",
    "NOTICES",
    "REASONS",
    "WARNINGS",
    "Configuration",
    "Deployment",
    "Editor",
    "Input",
    "InstallOption",
    "Installation",
    "Missing",
    "Names",
    "NoRule",
    "Notice",
    "Rule",
    "Setup",
    "SetupInput",
    "Setups",
    "deployments",
    "endpoint_setups",
    "install_options",
    "installations",
    "is_installable",
    "unusable_url",
]

MAX_SOURCES = 8
"""Packages that are read, and as many remotes."""

MAX_CONFIGURATION = 2_000
"""Characters of one configuration. They are repeated about six times: for each editor, and in the inputs."""

_IN_APIS = tuple(editor for editor in EDITORS if editor.is_in_apis)

_CLAUDE_CODE = next(editor for editor in EDITORS if editor.id == "claude-code")


@frozen
class Installation:
    """The configurations for one package or remote: its `kind`, its name or URL, and a configuration for each editor.

    `inputs` are values that the user enters. Configurations have `<name>` in their place, that of VS Code a prompt.
    Where an editor reads environment variables, a secret is its `variable`: no secret has to be in a file. Optional
    inputs without a value are omitted. `warnings` should be read before use. If no safe and complete
    configuration is possible, there is none: `unavailable` is the reason, and `note` its message.
    """

    kind: str = field(metadata={"description": "The registry type of the package, or the transport of the remote."})
    name: str = field(metadata={"description": "The package with its version, or the URL with its host in ASCII."})
    inputs: Sequence[Input] = field(default=(), metadata={"description": "Values that the user provides."})
    configurations: Sequence[Configuration] = field(default=(), metadata={"description": "One for each editor."})
    warnings: Sequence[Notice] = field(default=(), metadata={"description": "Notices to read before use."})
    unavailable: Notice | None = field(
        default=None, metadata={"description": "Reason for a missing configuration; null if there is one."}
    )
    note: str = field(
        default="", metadata={"description": "Message of unavailable; empty if there is a configuration."}
    )


@frozen
class InstallOption:
    """Installation of one package or remote in each editor, for people: its `kind` and its name or URL.

    If no safe and complete configuration is possible, `setups` is None and `unavailable` the reason.
    """

    kind: str
    name: str
    setups: Setups | None = None
    warnings: Sequence[Notice] = ()
    unavailable: Notice | None = None


def installations(
    server_name: str,
    mcp_id: str,
    packages: Sequence[Mapping[str, Any]],
    remotes: Sequence[Mapping[str, Any]],
    tools: Iterable[str] = (),
    editors: Sequence[Editor] = _IN_APIS,
) -> tuple[Installation, ...]:
    """Return the installations of a server with these tools. Remotes come first: they need no software."""
    names = names_of(server_name, mcp_id, tools)
    return tuple(
        Installation(kind, name, unavailable=server, note=server.message)
        if isinstance(server, Notice)
        else _installation(kind, name, whole_server(names, server), editors)
        for kind, name, server in _servers(packages, remotes)
    )


def _installation(kind: str, name: str, server: Server, editors: Sequence[Editor]) -> Installation:
    inputs = [evolve(item, variable=server.variables.get(item.name, "")) for item in server.config.inputs]
    return Installation(kind, name, inputs, configurations(server, editors), server.config.warnings)


def is_installable(packages: Sequence[Mapping[str, Any]], remotes: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a configuration is possible for one of the packages and remotes."""
    return any(isinstance(server, ServerConfig) for _, _, server in _servers(packages, remotes))


def unusable_url(transport: Mapping[str, Any]) -> str:
    """Return why the URL of a remote or of a package's transport is none that editors can use, empty if it is one."""
    try:
        remote_config({**transport, "headers": ()})
    except Unusable as unusable:
        return unusable.notice.message if unusable.notice.code == "url" else ""
    return ""


def install_options(
    server_name: str,
    mcp_id: str,
    packages: Sequence[Mapping[str, Any]],
    remotes: Sequence[Mapping[str, Any]],
    tools: Iterable[str] = (),
    editors: Sequence[Editor] = EDITORS,
) -> tuple[InstallOption, ...]:
    """Return the same as `installations`, with a setup for each of `editors`.

    The SSE transport, which the specification has replaced, is left out if the server can be reached by another one.
    """
    names, ways = names_of(server_name, mcp_id, tools), _servers(packages, remotes)
    kinds = {kind for kind, _, server in ways if isinstance(server, ServerConfig)}
    return tuple(
        InstallOption(kind, name, unavailable=server)
        if isinstance(server, Notice)
        else InstallOption(kind, name, setups_of(names, server, editors), server.warnings)
        for kind, name, server in ways
        if kind != "sse" or "streamable-http" not in kinds
    )


def deployments(
    server_name: str,
    mcp_id: str,
    packages: Sequence[Mapping[str, Any]],
    remotes: Sequence[Mapping[str, Any]],
) -> tuple[str, tuple[tuple[str, str, Deployment | Notice], ...]]:
    """Return the key of a server, and what administrators deploy of each remote and package, by kind and name.

    A Notice is the reason why no configuration is possible.
    """
    names = names_of(server_name, mcp_id)
    return deployed_key(server_name, mcp_id), tuple(
        (kind, name, server if isinstance(server, Notice) else deployment_of(_CLAUDE_CODE, whole_server(names, server)))
        for kind, name, server in _servers(packages, remotes)
    )


def endpoint_setups(names: Names, url: str, description: str, secret: str = "") -> Setups:
    """Return the setups of an MCP endpoint of ours at `url`, which takes a key as bearer token.

    With a `secret`, the configurations contain it.
    """
    key = Input("KEY", description, required=True, secret=True, default="", choices=())
    inputs, token = ((), secret) if secret else ((key,), key)
    headers: Mapping[str, Template] = {"Authorization": ("Bearer ", token)}
    return setups_of(names, ServerConfig("streamable-http", url, inputs, url=(url,), env_or_headers=headers))


def _servers(
    packages: Sequence[Mapping[str, Any]], remotes: Sequence[Mapping[str, Any]]
) -> Sequence[tuple[str, str, ServerConfig | Notice]]:
    """Return kind and name of each remote and package once, and its configuration or why there is none."""
    servers: list[tuple[str, str, ServerConfig | Notice]] = []
    sources = chain(
        ((remote_config, source, "type", "url") for source in islice(remotes, MAX_SOURCES)),
        ((package_config, source, "registryType", "identifier") for source in islice(packages, MAX_SOURCES)),
    )
    for read, source, kind, name in sources:
        try:
            server = read(source)
            if server.size > MAX_CONFIGURATION:
                raise Unusable("size", f"{MAX_CONFIGURATION:,}")
        except Unusable as unusable:
            texts = clean_line(as_text(source.get(kind)), 30), clean_line(as_text(source.get(name)), 300)
            way: tuple[str, str, ServerConfig | Notice] = (*texts, unusable.notice)
        else:
            way = server.kind, server.name, server
        if way not in servers:
            servers.append(way)
    return servers
