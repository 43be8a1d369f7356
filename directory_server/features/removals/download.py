"""Download of a source of advisories to a temporary file, with bounds on time and bytes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from twisted.web.client import Agent
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent

from ... import __version__
from ...http_client import (
    REDIRECT_CODES,
    BadResponse,
    BoundedAgent,
    CertificatePolicy,
    HeadBoundedPool,
    drop,
    exchanged,
    read_body,
)
from .sources import MAX_ARCHIVE, SourceFailed

CONNECT, DEADLINE = 10.0, 300.0
"""Timeouts in seconds of a connection attempt, and of a download."""

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
    headers = Headers({"User-Agent": [f"directory-server/{__version__} (advisories)"]})
    response = await agent.request(b"GET", url.encode("ascii"), headers, None)
    if response.code == 200:
        with path.open("wb") as file:
            await read_body(response, file.write)
        return
    drop(response)
    if response.code in REDIRECT_CODES:
        raise SourceFailed(f"It answered {response.code}. Redirects are not followed: configure the final URL.")
    raise SourceFailed(f"It answered {response.code}.")
