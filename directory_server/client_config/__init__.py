"""Editor configuration for a server, generated from the packages and remotes of its entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from attrs import field, frozen

from ..sanitize import clean_line
from ._editors import Configuration, configurations, input_prefix, server_key
from ._notices import REASONS, WARNINGS, Notice, Unusable
from ._packages import package_config
from ._remotes import remote_config
from ._server_config import Input, ServerConfig, as_text

__all__ = ["REASONS", "WARNINGS", "Configuration", "Input", "Installation", "Notice", "installations"]

MAX_SOURCES = 8
"""Packages that are read, and as many remotes."""

MAX_CONFIGURATION = 2_000
"""Characters of one configuration. They are repeated about six times: for each editor, and in the inputs."""


@frozen
class Installation:
    """The configurations for one package or remote: its `kind`, its name or URL, and a configuration for each editor.

    `inputs` are values that the user enters. Configurations have `<name>` in their place, those of VS Code a prompt.
    Optional inputs without a value are omitted. `warnings` should be read before use. If no safe and complete
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


def installations(
    server_name: str, mcp_id: str, packages: Sequence[Mapping[str, Any]], remotes: Sequence[Mapping[str, Any]]
) -> tuple[Installation, ...]:
    """Return the installations of the server. Remotes come first: they need no software on the machine."""
    key, prefix = server_key(server_name, mcp_id), input_prefix(server_name, mcp_id)
    sources = chain(
        ((remote_config, source, "type", "url") for source in islice(remotes, MAX_SOURCES)),
        ((package_config, source, "registryType", "identifier") for source in islice(packages, MAX_SOURCES)),
    )
    return tuple(_installation(key, prefix, *each) for each in sources)


def _installation(
    key: str,
    prefix: str,
    read: Callable[[Mapping[str, Any]], ServerConfig],
    source: Mapping[str, Any],
    kind: str,
    name: str,
) -> Installation:
    try:
        server = read(source)
        if server.size > MAX_CONFIGURATION:
            raise Unusable("size", f"{MAX_CONFIGURATION:,}")
    except Unusable as unusable:
        reason = unusable.notice
        return Installation(
            clean_line(as_text(source.get(kind)), 30),
            clean_line(as_text(source.get(name)), 300),
            unavailable=reason,
            note=reason.message,
        )
    return Installation(
        server.kind, server.name, server.inputs, configurations(key, prefix, server), warnings=server.warnings
    )
