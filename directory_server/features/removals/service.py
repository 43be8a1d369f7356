"""The removals of a server: a service that reads the sources and compares the changes with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...config import Config
from ...domain.ports.runtime import Offload
from ...feature.server import SERVICES, Server
from ...tables import Storage
from .remover import Remover
from .settings import RemovalsConfig
from .sources import downloader
from .tables import Advisories

DOWNLOAD = "removals.download"
"""The name of the download among the parts that tests replace."""


def remover_of(
    config: Config,
    storage: Storage,
    reactor: Any,
    offload: Offload,
    now: Callable[[], float],
) -> Remover:
    return Remover(
        settings=config.of(RemovalsConfig),
        store=storage.store,
        curation=storage.curation,
        advisories=Advisories(storage.background_tables),
        download=downloader(reactor),
        offload=offload,
        now=now,
    )


def run(server: Server) -> None:
    """Add the follower that removes entries."""
    remover = remover_of(server.config, server.storage, server.reactor, server.offload, server.now)
    server.add(SERVICES, remover.follower(server.storage, server.reactor, server.bus.announce))
