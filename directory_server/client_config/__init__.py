"""How to install or connect to a server: what to paste into an editor, made from an entry's packages and remotes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from attrs import frozen

from ..sanitize import clean_line
from ._editors import Configuration, configurations
from ._keys import input_prefix, server_key
from ._notices import REASONS, WARNINGS, Notice, Unusable
from ._packages import local
from ._remotes import hosted
from ._server_config import ServerConfig
from ._values import Input, words

__all__ = ["REASONS", "WARNINGS", "Configuration", "Input", "Installation", "Notice", "installations"]

WAYS = 8
"""Packages that are looked at, and as many remotes."""

LARGEST = 2_000
"""Characters of what one way says, which stand in it about six times: once for each editor, and as its inputs."""


@frozen
class Installation:
    """One way to have a server: `kind` of package or remote, its name or URL, and what to paste.

    `inputs` are what people fill in; those that stand in the configurations do so as `<name>`, in VS Code as a
    question. The others are optional and left out. `warnings` are what people should know before they paste.
    Where nothing safe and whole can be made of the way, there are no configurations: `unavailable` is the reason and
    `note` its sentence.
    """

    kind: str
    name: str
    inputs: Sequence[Input] = ()
    configurations: Sequence[Configuration] = ()
    warnings: Sequence[Notice] = ()
    unavailable: Notice | None = None
    note: str = ""


def installations(
    server_name: str, mcp_id: str, packages: Sequence[Mapping[str, Any]], remotes: Sequence[Mapping[str, Any]]
) -> tuple[Installation, ...]:
    """Return the ways to have the server, remotes first, for they need nothing on the machine."""
    key, prefix = server_key(server_name, mcp_id), input_prefix(server_name, mcp_id)
    ways = chain(
        ((hosted, way, "type", "url") for way in islice(remotes, WAYS)),
        ((local, way, "registryType", "identifier") for way in islice(packages, WAYS)),
    )
    return tuple(_installation(key, prefix, *each) for each in ways)


def _installation(
    key: str,
    prefix: str,
    read: Callable[[Mapping[str, Any]], ServerConfig],
    way: Mapping[str, Any],
    kind: str,
    name: str,
) -> Installation:
    try:
        server = read(way)
        if server.size > LARGEST:
            raise Unusable("size", f"{LARGEST:,}")
    except Unusable as unusable:
        reason = unusable.notice
        return Installation(
            clean_line(words(way.get(kind)), 30),
            clean_line(words(way.get(name)), 300),
            unavailable=reason,
            note=reason.message,
        )
    return Installation(
        server.kind, server.name, server.inputs, configurations(key, prefix, server), warnings=server.warnings
    )
