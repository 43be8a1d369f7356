"""Editors: what a setup of a server in an editor is, and what the writers of setups share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from attrs import field, frozen

from ._keys import Names
from ._notices import REVIEWED
from ._server_config import Input, ServerConfig, Template

Fill = Callable[[Template], str]
"""Returns a template as text, with the editor's form of each input."""

Secrets = Literal["", "prompt", "variable", "file"]
"""Where the secrets of a configuration are: there are none, the editor asks, environment variables, the file."""

Form = Literal["json", "toml", "yaml"]
"""The language of a configuration file."""


Word = str | Mapping[str, Any]
"""A word of a command, or the object whose JSON is a word."""


@frozen
class Server:
    """A server for the writers of setups, with its names, and the variables of its secrets by input name."""

    names: Names
    config: ServerConfig
    variables: Mapping[str, str]

    @property
    def key(self) -> str:
        """The key of the server in configurations."""
        return self.names.key

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
        return all(used.name in self.variables for used in self.config.used_inputs)

    @property
    def has_inputs(self) -> bool:
        """Whether the configuration contains inputs."""
        return any(True for _ in self.config.used_inputs)

    @property
    def needs_review(self) -> bool:
        """Whether a person must read the warnings first."""
        return any(notice.code in REVIEWED for notice in self.config.warnings)

    def _reference(self, part: Input, form: str) -> str:
        variable = self.variables.get(part.name)
        return f"<{part.name}>" if variable is None else form.format(variable)


@frozen
class Setup:
    """Setup of a server in an editor: the content `config` of its file.

    `link` is what an install link contains, the key of the server and its definition; `command` are the words of a
    command that does the same. Both are empty if the user must complete the configuration first, and the link also if
    the user must read the warnings first.
    """

    editor: Editor
    config: Mapping[str, Any]
    secrets: Secrets = ""
    link: tuple[str, Mapping[str, Any]] | None = None
    command: Sequence[Word] = ()


@frozen
class Editor:
    """An editor: `write` returns the setup of a server whose transport is one of `transports`, None if it cannot.

    `secrets` is where a configuration has its secrets, if it has some.
    """

    id: str
    name: str
    file: str
    write: Callable[[Editor, Server], Setup | None]
    secrets: Secrets = "file"
    transports: Sequence[str] = field(default=("stdio", "http", "sse"))
    form: Form = "json"
    is_terminal: bool = False
    """Whether it runs in a terminal. Editors that are started from a dock or a menu see no variables of a shell."""
    needs_trust: bool = False
    """Whether it connects to servers only in folders that the user trusts, and says nothing elsewhere."""
    is_in_apis: bool = False
    """Whether the APIs have its configuration. They have few, because the size of their details is bounded."""

    def setup(
        self,
        config: Mapping[str, Any],
        server: Server,
        *,
        secrets: Secrets | None = None,
        link: tuple[str, Mapping[str, Any]] | None = None,
        command: Sequence[Word] = (),
    ) -> Setup:
        """Return a setup with this configuration; `secrets` replaces the place of its secrets."""
        place = (secrets or self.secrets) if server.variables else ""
        return Setup(self, config, place, None if server.needs_review else link, command)
