"""The removals of a server: a service that reads the sources and compares the changes with them."""

from __future__ import annotations

from collections.abc import Callable
from secrets import token_hex
from typing import Any

from twisted.internet.interfaces import IReactorTime

from ...config import Config
from ...domain.ports.runtime import Offload
from ...feature import Host, Running
from ...timers import Timer
from .remover import INTERVAL, Remover
from .settings import RemovalsConfig
from .tables import Advisories

DOWNLOAD = "removals.download"
"""The name of the download among the parts that tests replace."""


class RemovalService(Timer):
    """Removes entries; releases its lease at the end."""

    def __init__(self, remover: Remover, clock: IReactorTime) -> None:
        super().__init__(INTERVAL, remover.update, clock, finish=remover.release)


def remover_of(
    config: Config,
    storage: Any,
    reactor: Any,
    offload: Offload,
    now: Callable[[], float],
    announce: Callable[[], None],
) -> Remover:
    """Return the remover of a process."""
    # The HTTP client takes 3 MB and .1 seconds.
    from .download import downloader

    return Remover(
        settings=config.of(RemovalsConfig),
        store=storage.store,
        curation=storage.curation,
        leases=storage.mirrors,
        advisories=Advisories(storage.background_tables),
        download=downloader(reactor),
        offload=offload,
        now=now,
        announce=announce,
        holder=token_hex(8),
    )


def running(host: Host) -> Running:
    """Return the service, if there are sources."""
    if not host.config.of(RemovalsConfig).sources:
        return Running()
    remover = remover_of(host.config, host.storage, host.reactor, host.offload, host.now, host.bus.announce)
    return Running(services=[RemovalService(remover, host.reactor)])
