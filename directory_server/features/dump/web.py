"""The web part of the dump: routes and handlers."""

from __future__ import annotations

from pathlib import Path

from ...web.openapi import OpenApiPart, registry_read
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import REGISTRY, Route
from .builder import Dumps
from .download import Downloads
from .handlers import NAME, DumpHandlers
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
    return Endpoints({"dump": handlers})


def _routes(prefix: str) -> tuple[Route, ...]:
    path = f"{prefix}/v0.1/{NAME}"
    return Route(path, "GET", REGISTRY, "dump.get"), Route(f"{path}.sha256", "GET", REGISTRY, "dump.checksum")


PART = WebPart(
    routes=(*_routes(""), *_routes("/r/{token}")),
    serve=_serve,
    openapi=OpenApiPart(
        paths={
            f"/v0.1/{NAME}": registry_read(
                "dump",
                "Download all entries",
                "All entries in all versions, as JSON Lines in gzip. Accepts one range. 503 while the file is made.",
                "application/gzip",
            ),
            f"/v0.1/{NAME}.sha256": registry_read(
                "dumpChecksum",
                "Read the checksum of the dump",
                "The SHA-256 of the dump, in the form of `sha256sum`.",
                "text/plain",
            ),
        },
        without_key="reads of the registry API, which may be public",
    ),
)
