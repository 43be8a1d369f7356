"""The record by which a feature registers what it adds to a server."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

if TYPE_CHECKING:
    from ..config import Config
    from ..domain.ports.audit import AuditTrail
    from ..tables import Storage
    from .server import Server


def attribute(reference: str) -> Any:
    """Return the attribute at a `reference`, such as "package.module:name"; import the module."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


@frozen
class Feature:
    """A part of the server that can be absent. `name` is also the name of its section of settings.

    `package` is that of its folder. The parts are attributes of modules of the package, such as "web:PART", or absent:
    `settings` is the class of its section, `web` a WebPart, `command` a command of `directory-server`, `run` adds
    what the feature does to a server, `trail` what records commands, from the settings and the storage, and
    `doctor` returns checks by name from the settings.
    `resources` are each a Resource, with pages and a command, `kinds` each a Kind of requests that no resource is of.
    `commands` are the names of its commands, with the first sentence of their help, `section` that of the help in which
    they are. `run` is not called if the setting `runs_if` is empty or false. A module is imported when its part is
    needed: commands need no web server, and a server needs no commands.
    """

    name: str
    package: str
    settings: str = ""
    web: str = ""
    commands: Mapping[str, str] = field(factory=dict)
    section: str = ""
    command: str = ""
    run: str = ""
    runs_if: str = ""
    trail: str = ""
    doctor: str = ""
    resources: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The name of the folder, with which names of templates and keys of texts begin."""
        return self.package.rpartition(".")[2]

    def part(self, reference: str) -> Any:
        """Return the part at a `reference`; None for an absent one."""
        return attribute(f"{self.package}.{reference}") if reference else None

    def command_trail(self, config: Config, storage: Storage) -> AuditTrail | None:
        """Return what records commands; None if nothing does."""
        trail: AuditTrail | None = self.part(self.trail)(config, storage) if self.trail else None
        return trail

    def register(self, server: Server) -> None:
        """Add what the feature does in a server."""
        if self.run and (not self.runs_if or getattr(server.config.of(self.part(self.settings)), self.runs_if)):
            self.part(self.run)(server)
