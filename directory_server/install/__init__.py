"""How to install or connect to a server: what to paste into an editor, made from an entry's packages and remotes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from attrs import frozen

from ._editors import Configuration, configurations
from ._packages import local
from ._remotes import hosted
from ._server import Server
from ._texts import Input, Unusable

__all__ = ["Configuration", "Input", "Installation", "installations"]

WAYS = 8
"""Packages that are looked at, and as many remotes."""

LARGEST = 2_000
"""Characters of what one way says, which stand in it about six times: once for each editor, and as its inputs."""


@frozen
class Installation:
    """One way to have a server: `kind` of package or remote, its name or URL, and what to paste.

    `inputs` are what people fill in; those that stand in the configurations do so as `<name>`, in VS Code as a
    question. The others are optional and left out. `note` says why there are neither, where that is so.
    """

    kind: str
    name: str
    inputs: Sequence[Input]
    configurations: Sequence[Configuration]
    note: str = ""


def installations(
    server_name: str, packages: Sequence[Mapping[str, Any]], remotes: Sequence[Mapping[str, Any]]
) -> tuple[Installation, ...]:
    """Return the ways to have the server, remotes first, for they need nothing on the machine.

    A way is passed over where its configuration could not be safe and whole: an unknown kind, a name that its registry
    cannot have, a URL that is not http, control characters, references to what an editor would put in.
    """
    key = _key(server_name)
    return tuple(_installation(key, server) for server in chain(_usable(hosted, remotes), _usable(local, packages)))


def _installation(key: str, server: Server) -> Installation:
    if server.size > LARGEST:
        note = f"Not shown: its arguments, variables and headers make more than {LARGEST:,} characters."
        return Installation(server.kind, server.name[:300], (), (), note)
    return Installation(server.kind, server.name, server.inputs, configurations(key, server))


def _usable(read: Any, ways: Sequence[Mapping[str, Any]]) -> Iterator[Server]:
    for way in islice(ways, WAYS):
        try:
            yield read(way)
        except Unusable:
            continue


def _key(server_name: str) -> str:
    """Return what editors call the server: the last part of its name, in letters that all of them take."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", server_name.rpartition("/")[2][:60]).strip("-") or "server"
