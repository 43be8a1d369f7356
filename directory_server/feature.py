"""The record by which a feature registers what it adds to a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from .domain.ports.tracing import untraced

if TYPE_CHECKING:
    from twisted.application.service import IService

    from .config import Config
    from .domain.ports.access import Scopes
    from .domain.ports.additions import AcceptedMarks, EntryAdditions, PublishedCheck
    from .domain.ports.audit import AuditTrail
    from .domain.ports.runtime import Bus, Offload
    from .domain.ports.search import LikenessSource
    from .domain.ports.tracing import Trace
    from .tables import Storage
    from .web.access_log import AccessRecord
    from .web.authentication import AccessTokens
    from .web.pages import EntryImage, EntryPart


@frozen
class Host:
    """The parts of a server that features run on.

    `now` returns seconds since the epoch. `bus` announces changes of entries. `metrics` is the registry of collectors
    of prometheus-client. `replaced` has the parts of features that tests replace, by name.
    `trace` wraps what is traced.
    """

    config: Config
    storage: Storage
    reactor: Any
    now: Callable[[], float]
    offload: Offload
    bus: Bus
    metrics: Any
    replaced: Mapping[str, Any]
    trace: Trace = untraced


def attribute(reference: str) -> Any:
    """Return the attribute at a `reference`, such as "package.module:name"; import the module."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


async def nothing() -> None:
    """Do nothing at the start or the end of the process."""


@frozen
class Running:
    """A feature in a server.

    `services` run in the background. `observe` gets the finished requests of each reactor turn, and `searched` each
    search: its API, client and keywords, and whether it had hits. `opened` gets the id of each entry that was opened.
    `load` reads what the first requests need, `write` writes what the last requests have left. `additions` is what the
    feature adds to the views of entries, `entry_part` what it shows of them on pages. `entry_image` returns the path
    of the image of an entry, empty if it has none. `likeness` takes part in the order of the first hits of searches.
    `access_tokens` authenticate clients in place of API keys.
    `check_published` checks new versions that are published to this directory.
    `trail` records what operators, members and publishers do.
    `accepted` returns the accepted marks of an entry.
    `scopes` decide which entries a request may see. Without them every reader sees all.
    `trace` wraps parts of the server and of later features.
    `faults` returns numbers of what does not work, by name, from memory.
    """

    services: Sequence[IService] = ()
    observe: Callable[[Sequence[AccessRecord]], None] = lambda records: None
    searched: Callable[[str, str, str, bool], None] = lambda api, client, keywords, has_hits: None
    opened: Callable[[str], None] = lambda mcp_id: None
    load: Callable[[], Awaitable[None]] = nothing
    write: Callable[[], Awaitable[None]] = nothing
    additions: EntryAdditions | None = None
    entry_part: EntryPart | None = None
    entry_image: EntryImage | None = None
    likeness: LikenessSource | None = None
    access_tokens: AccessTokens | None = None
    check_published: PublishedCheck | None = None
    trail: AuditTrail | None = None
    accepted: AcceptedMarks | None = None
    scopes: Scopes | None = None
    trace: Trace | None = None
    faults: Callable[[], Mapping[str, int]] = dict


@frozen
class Feature:
    """A part of the server that can be absent. `name` is also the name of its section of settings.

    `package` is that of its folder. The parts are attributes of modules of the package, such as "web:PART", or absent:
    `settings` is the class of its section, `web` a WebPart, `command` a command of `directory-server`, `run` returns
    what the feature does in a server, and `trail` what records commands, from the settings and the storage.
    `resources` are each a Resource, with pages and a command. `commands` are the names of its commands, with the first
    sentence of their help. `run` is not called if the setting `runs_if` is empty or false. A module is imported when
    its part is needed: commands need no web server, and a server needs no commands.
    """

    name: str
    package: str
    settings: str = ""
    web: str = ""
    commands: Mapping[str, str] = field(factory=dict)
    command: str = ""
    run: str = ""
    runs_if: str = ""
    trail: str = ""
    resources: tuple[str, ...] = ()

    def part(self, reference: str) -> Any:
        """Return the part at a `reference`; None for an absent one."""
        return attribute(f"{self.package}.{reference}") if reference else None

    def command_trail(self, config: Config, storage: Storage) -> AuditTrail | None:
        """Return what records commands; None if nothing does."""
        trail: AuditTrail | None = self.part(self.trail)(config, storage) if self.trail else None
        return trail

    def running(self, host: Host) -> Running:
        """Return what the feature does in a server."""
        if self.runs_if and not getattr(host.config.of(self.part(self.settings)), self.runs_if):
            return Running()
        running: Running = self.part(self.run)(host) if self.run else Running()
        return running
