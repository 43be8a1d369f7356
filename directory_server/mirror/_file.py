"""A file of entries: fetched, or local."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

from ..domain.ports.runtime import Offload
from ..runtime import files
from ._fetcher import Fetcher, Response, Validators
from ._upstream import Upstream, UpstreamFailed

MAX_BYTES = 512_000_000
"""Maximum bytes of a file, compressed and inflated."""

DEADLINE = 600.0
"""Timeout of a download in seconds."""


@asynccontextmanager
async def open_file(
    upstream: Upstream, fetch: Fetcher, validators: Validators, offload: Offload
) -> AsyncIterator[tuple[Response, str]]:
    """Yield the response and the path of the file, downloading a changed remote file. Raises UpstreamFailed."""
    if upstream.is_path:
        path = upstream.url.removeprefix("file://")
        current = await offload(_stamp, path)
        yield Response(current == validators, current, None), path
        return
    # On disk, not in memory; deleted at the end of the `with`.
    with NamedTemporaryFile(prefix="directory-server-") as file:
        response = await fetch.get(upstream.url, file.write, validators=validators, deadline=DEADLINE)
        file.flush()
        yield response, file.name


def dump_date(path: str) -> float:
    """Return the date of a dump, in seconds since the epoch: the MTIME of its gzip header (RFC 1952, section 2.3.1).

    Raises UpstreamFailed if it has none.
    """
    try:
        with files.open_file(path) as file:
            head = file.read(8)
    except OSError as error:
        raise UpstreamFailed(f"The file {path} cannot be read: {error.strerror}.") from None
    date = int.from_bytes(head[4:8], "little") if head.startswith(b"\x1f\x8b") else 0
    if not date:
        raise UpstreamFailed("The file of its setting start is no dump: it has no date in a header of gzip.")
    return float(date)


def _stamp(path: str) -> Validators:
    """Return validators that change when the file is written."""
    try:
        status = os.stat(Path(path))
    except OSError as error:
        raise UpstreamFailed(f"The file {path} cannot be read: {error.strerror}.") from None
    return Validators(f"{status.st_mtime_ns}-{status.st_size}")
