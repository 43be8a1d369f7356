"""Setups: how a server is added to each editor, without secrets in files where the editor allows that."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Literal

from attrs import evolve, field, frozen

from ._editor_table import EDITORS
from ._editors import Editor, Server, Setup, Word
from ._keys import Names
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
    command: str = field(
        default="", metadata={"description": "Command for a POSIX shell that does the same; empty if there is none."}
    )


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
    """An editor without a setup, and the reason: `sse` (transport), or `address` (characters in it)."""

    editor: Editor
    reason: Literal["sse", "address"]


@frozen
class Setups:
    """The setups of a server, the inputs that they share, and the editors that cannot use the server.

    With `needs_review`, a person must read the warnings first, and no setup has an install link.
    """

    setups: Sequence[Setup]
    inputs: Sequence[SetupInput]
    missing: Sequence[Missing]
    needs_review: bool = False


def configurations(server: Server, editors: Sequence[Editor]) -> tuple[Configuration, ...]:
    """Return the configurations of `server` for `editors`: the same as on pages."""
    setups = ((editor, editor.write(editor, server)) for editor in editors if server.transport in editor.transports)
    return tuple(
        Configuration(editor.name, editor.file, setup.config, _command(setup.command))
        for editor, setup in setups
        if setup is not None
    )


def _command(words: Sequence[Word]) -> str:
    texts = [word for word in words if isinstance(word, str)]
    # That of VS Code has an object, which is its configuration again.
    return shlex.join(texts) if len(texts) == len(words) else ""


def setups(names: Names, server: ServerConfig, editors: Sequence[Editor] = EDITORS) -> Setups:
    """Return the setups of `server` in `editors`.

    The variables are ours: a publisher who could choose a name could read a variable that the user already has.
    """
    whole = whole_server(names, server)
    used, variables = {item.name for item in server.used_inputs}, whole.variables
    inputs = [
        SetupInput(item.name, item.description, item.secret, variables.get(item.name, ""), is_used=item.name in used)
        for item in whole.config.inputs
    ]
    written = [
        (editor, editor.write(editor, whole) if whole.transport in editor.transports else None) for editor in editors
    ]
    missing = [
        Missing(editor, "address" if whole.transport in editor.transports else "sse")
        for editor, setup in written
        if setup is None
    ]
    return Setups([setup for _, setup in written if setup is not None], inputs, missing, whole.needs_review)


def whole_server(names: Names, server: ServerConfig) -> Server:
    """Return `server` with the variables of its secrets, of which it has those that a configuration contains."""
    used = {item.name: item for item in server.used_inputs}
    variables = dict(_variables(names.variables, (item for item in used.values() if _is_secret(item))))
    # VS Code hides what is entered for a secret.
    marked = [evolve(item, secret=_is_secret(item)) for item in server.inputs]
    return Server(names, evolve(server, inputs=marked), variables)


def _is_secret(item: Input) -> bool:
    return item.secret or bool(_SECRET_NAME.search(item.name))


def _variables(prefix: str, inputs: Iterator[Input]) -> Iterator[tuple[str, str]]:
    taken: set[str] = set()
    for item in inputs:
        name = f"{prefix}_{re.sub('[^A-Z0-9]+', '_', item.name.upper()).strip('_')}"
        name = next(
            candidate for number in count(1) if (candidate := name if number == 1 else f"{name}_{number}") not in taken
        )
        taken.add(name)
        yield item.name, name
