"""Setups: how a server is added to each editor, without secrets in files where the editor allows that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Literal

from attrs import evolve, field, frozen

from ._editors import EDITORS, Server, Setup
from ._server_config import Input, ServerConfig

_SECRET_NAME = re.compile(
    r"(?:api|access|auth|secret|private|account)[_-]?key|token|secret|passw(?:or)?d|credential|authorization", re.I
)
"""Names of inputs that are secret even if the publisher does not say so."""


@frozen
class Configuration:
    """The content of the configuration `file` of an editor: `config` is JSON, for an empty file."""

    editor: str = field(metadata={"description": "The editor's name."})
    file: str = field(metadata={"description": "Path of the editor's configuration file."})
    config: Mapping[str, Any] = field(metadata={"description": "JSON of a configuration file with only this server."})


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


def configurations(key: str, prefix: str, server: ServerConfig) -> tuple[Configuration, ...]:
    """Return the configurations of `server` under `key` for the editors of the APIs, with `<name>` for each input.

    `prefix` is that of input ids.
    """
    plain = Server(key, prefix, server, {})
    made = (editor.make(editor, plain) for editor in EDITORS if editor.is_in_apis)
    return tuple(Configuration(each.name, each.file, each.config) for each in made)


def setups(key: str, prefix: str, unique: str, server: ServerConfig) -> Setups:
    """Return the setups of `server` under `key`. `prefix` is that of input ids, `unique` that of variables.

    The variables are ours: a publisher who could choose a name could read a variable that the user already has.
    """
    used = {each.name: each for each in server.used_inputs}
    variables = dict(_variables(unique, (each for each in used.values() if _is_secret(each))))
    # VS Code hides what is entered for a secret.
    marked = [evolve(each, secret=_is_secret(each)) for each in server.inputs]
    one = Server(key, prefix, evolve(server, inputs=marked), variables)
    inputs = [
        SetupInput(each.name, each.description, each.secret, variables.get(each.name, ""), is_used=each.name in used)
        for each in marked
    ]
    return Setups(
        [editor.make(editor, one) for editor in EDITORS if one.transport in editor.transports],
        inputs,
        [
            Missing(editor.name, "remote" if editor.transports == ("stdio",) else "sse")
            for editor in EDITORS
            if one.transport not in editor.transports
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
