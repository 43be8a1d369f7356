"""The record by which a feature registers what it adds to a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import AttrsInstance, frozen

if TYPE_CHECKING:
    import click
    from twisted.application.service import IService

    from .config import Config
    from .domain.ports.additions import AcceptedMarks, EntryAdditions, PublishedCheck
    from .domain.ports.audit import AuditTrail
    from .domain.ports.runtime import Bus, Offload
    from .domain.ports.search import LikenessSource
    from .web.access_log import AccessRecord
    from .web.authentication import AccessTokens
    from .web.pages import EntryImage, EntryPart
    from .web.parts import WebPart


@frozen
class Host:
    """The parts of a server that features run on.

    `now` returns seconds since the epoch. `bus` announces changes of entries. `metrics` is the registry of collectors
    of prometheus-client. `replaced` has the parts of features that tests replace, by name.
    """

    config: Config
    storage: Any
    reactor: Any
    now: Callable[[], float]
    offload: Offload
    bus: Bus
    metrics: Any
    replaced: Mapping[str, Any]


def ignore_records(records: Sequence[AccessRecord]) -> None:
    """Do nothing for finished requests."""


def ignore_opened(mcp_id: str) -> None:
    """Do nothing for an entry that was opened."""


def ignore_search(api: str, client: str, keywords: str, has_hits: bool) -> None:
    """Do nothing for a search."""


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
    """

    services: Sequence[IService] = ()
    observe: Callable[[Sequence[AccessRecord]], None] = ignore_records
    searched: Callable[[str, str, str, bool], None] = ignore_search
    opened: Callable[[str], None] = ignore_opened
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


@frozen
class Feature:
    """A part of the server that can be absent. `name` is also the name of its section of settings.

    `settings` is the class of the section. `web` returns its routes, handlers and pages, `command` its command of
    `directory-server`, and `run` what it does in a server. `trail` returns what records commands, from the settings and
    the storage. They import their modules when they are called: commands
    need no web server, and a server needs no commands.
    """

    name: str
    web: Callable[[], WebPart] | None = None
    command: Callable[[], click.Command] | None = None
    settings: type[AttrsInstance] | None = None
    run: Callable[[Host], Running] | None = None
    trail: Callable[[Config, Any], AuditTrail | None] | None = None
