"""A list of entries as a file: fetched, or of this machine."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

from ..domain.ports.runtime import Offload
from ._errors import UpstreamFailed
from ._fetcher import Fetcher, Response, Validators
from ._upstream import Upstream

MOST = 512_000_000
"""Bytes of a file, as it is sent and inflated."""

DEADLINE = 600.0
"""Seconds in which it has to be here."""


@asynccontextmanager
async def opened(
    upstream: Upstream, fetch: Fetcher, known: Validators, offload: Offload
) -> AsyncIterator[tuple[Response, str]]:
    """Lend the path of the file, fetched if need be, unless it is unchanged. Raises UpstreamFailed."""
    if upstream.is_path:
        path = upstream.url.removeprefix("file://")
        validators = await offload(_stamp, path)
        yield Response(validators == known, validators, None), path
        return
    # It is on the disk, not in memory, and gone with the `with`.
    with NamedTemporaryFile(prefix="directory-server-") as file:
        answer = await fetch.get(upstream.url, file.write, validators=known, deadline=DEADLINE)
        file.flush()
        yield answer, file.name


def _stamp(path: str) -> Validators:
    """Return what is another when the file was written to."""
    try:
        status = os.stat(Path(path))
    except OSError as error:
        raise UpstreamFailed(f"The file {path} cannot be read: {error.strerror}.") from None
    return Validators(f"{status.st_mtime_ns}-{status.st_size}")
