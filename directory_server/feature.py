"""The record by which a feature registers what it adds to a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from attrs import AttrsInstance, frozen

if TYPE_CHECKING:
    import click
    from twisted.application.service import IService

    from .config import Config
    from .domain.ports.runtime import Offload
    from .web.access_log import AccessRecord
    from .web.parts import WebPart


@frozen
class Host:
    """The parts of a server that features run on. `now` returns seconds since the epoch."""

    config: Config
    storage: Any
    reactor: Any
    now: Callable[[], float]
    offload: Offload


def ignore_records(records: Sequence[AccessRecord]) -> None:
    """Do nothing for finished requests."""


def ignore_search(api: str, client: str, keywords: str, has_hits: bool) -> None:
    """Do nothing for a search."""


async def nothing_to_write() -> None:
    """Write nothing at the end of the process."""


@frozen
class Running:
    """A feature in a server.

    `services` run in the background. `observe` gets the finished requests of each reactor turn, and `searched` each
    search: its API, client and keywords, and whether it had hits. `write` writes what the last requests have left.
    """

    services: Sequence[IService] = ()
    observe: Callable[[Sequence[AccessRecord]], None] = ignore_records
    searched: Callable[[str, str, str, bool], None] = ignore_search
    write: Callable[[], Awaitable[None]] = nothing_to_write


@frozen
class Feature:
    """A part of the server that can be absent. `name` is also the name of its section of settings.

    `settings` is the class of the section. `web` returns its routes, handlers and pages, `command` its command of
    `directory-server`, and `run` what it does in a server. They import their modules when they are called: commands
    need no web server, and a server needs no commands.
    """

    name: str
    web: Callable[[], WebPart] | None = None
    command: Callable[[], click.Command] | None = None
    settings: type[AttrsInstance] | None = None
    run: Callable[[Host], Running] | None = None
