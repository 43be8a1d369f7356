"""The web part of the dump: handlers."""

from __future__ import annotations

from pathlib import Path

from ...web.openapi import OpenApiPart, registry_read
from ...web.parts import Endpoints, Kernel, WebPart
from .builder import Dumps
from .download import Downloads
from .handlers import PATH, DumpHandlers
from .settings import DumpConfig


def _serve(kernel: Kernel) -> Endpoints:
    config, settings, clock = kernel.config, kernel.config.of(DumpConfig), kernel.reactor
    parent = config.index_dir or ("" if config.database else config.data_dir)
    folder = Path(settings.folder) if settings.folder else Path(parent) / "dump" if parent else None
    dumps = None
    if folder is not None:
        dumps = Dumps(
            folder,
            settings,
            kernel.storage.store,
            kernel.directory,
            kernel.offload,
            clock,
            kernel.now,
            curated=config.registry.listed == "curated",
        )
    handlers = DumpHandlers(kernel, dumps, Downloads(kernel.offload, clock))
    return Endpoints([handlers.app])


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
