"""The web part of the dump: handlers, and operations of the OpenAPI document."""

from __future__ import annotations

import re
from base64 import b64encode
from pathlib import Path

from attrs import frozen
from twisted.web.http import datetimeToString, stringToDatetime

from ...domain.errors import NotFound
from ...feature.parts import WebPart
from ...feature.server import Server
from ...http import Request
from ...http.headers import value as header
from ...web.openapi import OpenApiPart, registry_read
from ...web.responses import conditional_response, empty_response, is_known
from ...web.routes import APPS, REGISTRY, App
from .builder import Dump, Dumps
from .download import Downloads
from .settings import DumpConfig

NAME = "dump.jsonl.gz"

PATH = f"/v0.1/{NAME}"

_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")


@frozen
class DumpHandlers:
    """Handlers for clients of the registry API. `dumps` is None if the settings name no folder."""

    app = App(REGISTRY)

    _server: Server
    _dumps: Dumps | None
    _downloads: Downloads

    @app.get(PATH, f"/r/{{token}}{PATH}")
    async def get(self, request: Request, token: str | None = None) -> bytes | None:
        """Respond with the dump or a range of it (RFC 9110, section 14)."""
        client = await self._server.registry_access.authenticate(request, token)
        dump = await self._current(request)
        etag, modified = f'"{dump.sha256}"', datetimeToString(dump.date).decode()
        fields = {
            "ETag": etag,
            "Last-Modified": modified,
            "Accept-Ranges": "bytes",
            "Cache-Control": f"{self._server.registry_access.caching(request)}, no-cache",
            "Repr-Digest": f"sha-256=:{b64encode(bytes.fromhex(dump.sha256)).decode()}:",
        }
        if is_known(request, etag) or (header(request, "If-None-Match") is None and _is_unmodified(request, dump)):
            return empty_response(request, 304, **fields)
        fields |= {"Content-Type": "application/gzip", "X-Content-Type-Options": "nosniff"}
        part = _range(request, dump.size) if header(request, "If-Range") in (None, etag, modified) else None
        if request.method == b"HEAD":
            return empty_response(request, 200, **fields | {"Content-Length": str(dump.size)})
        if part == ():
            return empty_response(request, 416, **{"Content-Range": f"bytes */{dump.size}"})
        start, end = part or (0, dump.size)
        if part:
            fields["Content-Range"] = f"bytes {start}-{end - 1}/{dump.size}"
        request.setResponseCode(206 if part else 200)
        for name, text in fields.items():
            request.setHeader(name, text)
        await self._downloads.send(request, client, dump.path, start, end)
        return None

    @app.get(f"{PATH}.sha256", f"/r/{{token}}{PATH}.sha256")
    async def checksum(self, request: Request, token: str | None = None) -> bytes:
        """Respond with the SHA-256 of the dump, in the form that `sha256sum --check` reads."""
        await self._server.registry_access.authenticate(request, token)
        dump = await self._current(request)
        body = f"{dump.sha256}  {NAME}\n".encode("ascii")
        return conditional_response(
            request,
            body,
            f"{self._server.registry_access.caching(request)}, no-cache",
            **{"Content-Type": "text/plain; charset=utf-8"},
        )

    async def _current(self, request: Request) -> Dump:
        if self._server.catalogue.scope_of(request) is not None:
            raise NotFound("There is no dump: it would have all entries, and you may read those of some lists.")
        if self._dumps is None:
            raise NotFound("There is no dump: the operator has not set dump.folder.")
        return await self._dumps.current()


def _is_unmodified(request: Request, dump: Dump) -> bool:
    """Return whether If-Modified-Since has the date of the dump or a later one (RFC 9110, section 13.1.3)."""
    try:
        return bool(stringToDatetime((header(request, "If-Modified-Since") or "").encode("ascii")) >= dump.date)
    except (ValueError, LookupError, OverflowError):
        return False


def _range(request: Request, size: int) -> tuple[int, int] | tuple[()] | None:
    """Return the start and the end of the range that is asked for, () if it is outside of the file.

    None if there is none, or one of a form that is not supported, such as several ranges.
    """
    match = _RANGE.fullmatch((header(request, "Range") or "").replace(" ", ""))
    if match is None or match[0] == "bytes=-":
        return None
    first, last = match[1], match[2]
    if not first:
        length = min(int(last), size)
        return (size - length, size) if length else ()
    start, end = int(first), min(int(last) + 1, size) if last else size
    if last and int(last) < start:
        return None
    return (start, end) if start < size else ()


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
