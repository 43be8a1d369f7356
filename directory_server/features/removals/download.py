"""Download of a source of advisories to a temporary file, with bounds on time and bytes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from twisted.web.client import Agent
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent, IResponse

from ... import __version__
from ...http_client import (
    REDIRECT_CODES,
    BadResponse,
    BoundedAgent,
    CertificatePolicy,
    HeadBoundedPool,
    drop,
    exchanged,
    header,
    read_body,
    redirect_target,
)
from .sources import MAX_ARCHIVE, SourceFailed

CONNECT, DEADLINE = 10.0, 300.0
"""Timeouts in seconds of a connection attempt, and of a download."""

MAX_REDIRECTS = 3

Download = Callable[[str, Path], Awaitable[None]]
"""`download(url, path)` writes the body of a URL to `path`. Raises SourceFailed."""


def is_url(source: str) -> bool:
    """Return whether a source is a URL, not a path."""
    return urlsplit(source).scheme in ("http", "https")


def downloader(reactor: Any) -> Download:
    """Return a function that downloads over connections of its own."""

    async def download(url: str, path: Path) -> None:
        pool = HeadBoundedPool(reactor, persistent=False)
        agent = BoundedAgent(Agent(reactor, CertificatePolicy(), connectTimeout=CONNECT, pool=pool), MAX_ARCHIVE)
        try:
            await exchanged(_fetch(agent, url, path), DEADLINE, reactor)
        except BadResponse as error:
            raise SourceFailed(error.message) from None
        except OSError as error:
            raise SourceFailed(f"It cannot be stored: {error.strerror}.") from None

    return download


async def _fetch(agent: IAgent, url: str, path: Path) -> None:
    for _ in range(MAX_REDIRECTS + 1):
        response = await _get(agent, url)
        if response.code == 200:
            with path.open("wb") as file:
                await read_body(response, file.write)
            return
        drop(response)
        if response.code not in REDIRECT_CODES:
            raise SourceFailed(f"It answered {response.code}.")
        url, is_same_host = redirect_target(url, header(response, b"location"))
        if not is_same_host:
            raise SourceFailed("It redirects to another host. Configure the final URL.")
    raise SourceFailed(f"It redirects more than {MAX_REDIRECTS} times.")


async def _get(agent: IAgent, url: str) -> IResponse:
    headers = Headers({"User-Agent": [f"directory-server/{__version__} (advisories)"]})
    return await agent.request(b"GET", url.encode("ascii"), headers, None)
