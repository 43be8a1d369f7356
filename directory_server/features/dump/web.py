"""The web part of the dump: handlers."""

from __future__ import annotations

from pathlib import Path

from ...feature.parts import WebPart
from ...feature.server import Server
from ...web.openapi import OpenApiPart, registry_read
from ...web.routes import APPS
from .builder import Dumps
from .download import Downloads
from .handlers import PATH, DumpHandlers
from .settings import DumpConfig


def _serve(server: Server) -> None:
    config, settings, clock = server.config, server.config.of(DumpConfig), server.reactor
    parent = config.index_dir or ("" if config.database else config.data_dir)
    folder = Path(settings.folder) if settings.folder else Path(parent) / "dump" if parent else None
    dumps = None
    if folder is not None:
        dumps = Dumps(
            folder,
            settings,
            server.storage.store,
            server.directory,
            server.offload,
            clock,
            server.now,
            curated=config.registry.listed == "curated",
        )
    handlers = DumpHandlers(server, dumps, Downloads(server.offload, clock))
    server.add(APPS, handlers.app)


PART = WebPart(
    serve=_serve,
    openapi=OpenApiPart(
        paths={
            PATH: registry_read(
                "dump",
                "Download all entries",
                "All entries in all versions, as JSON Lines in gzip. Accepts one range. 503 while the file is made.",
                "application/gzip",
            ),
            f"{PATH}.sha256": registry_read(
                "dumpChecksum",
                "Read the checksum of the dump",
                "The SHA-256 of the dump, in the form of `sha256sum`.",
                "text/plain",
            ),
        },
        without_key="reads of the registry API, which may be public",
    ),
)
