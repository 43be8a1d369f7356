"""Fetched icons, kept in memory within bounds."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from attrs import frozen
from twisted.internet.defer import DeferredSemaphore

from ...domain.errors import DirectoryError, NotFound
from ...domain.ports.runtime import Offload
from ...http_client import BadResponse, CertificatePolicy, CheckedAgent, CheckedNetwork, DocumentClient
from .images import media_type

MAX_BYTES = 131_072
"""Bytes of an icon."""

MAX_KEPT, MAX_KEPT_BYTES = 4_096, 33_554_432
"""URLs whose icons are kept, and bytes of all kept icons."""

FRESH, FAILED = 86_400.0, 3_600.0
"""Seconds for which an icon is kept, and for which a URL without an icon is not requested again."""

DEADLINE, CONNECT = 10.0, 5.0
"""Seconds of a fetch, and of a connection attempt."""

CONCURRENCY, MAX_WAITING = 4, 64
"""Fetches at a time, and others that wait."""

NO_ICON = "This entry has no icon that this server could fetch."


@frozen
class Icon:
    """A picture. `media_type` is that of its bytes; both are empty for a URL without a picture."""

    media_type: str
    body: bytes


class Icons:
    """Keeps icons by URL. `fetch` returns the bytes at a URL, or raises BadResponse or DirectoryError.

    `now` returns seconds since the epoch.
    """

    def __init__(self, fetch: Callable[[str], Awaitable[bytes]], now: Callable[[], float]) -> None:
        self._fetch = fetch
        self._now = now
        self._kept: OrderedDict[str, tuple[float, Icon]] = OrderedDict()
        self._bytes = 0
        self._slots = DeferredSemaphore(CONCURRENCY)

    async def get(self, url: str) -> Icon:
        """Return the icon at `url`. Raises NotFound if there is none, or too many others wait."""
        icon = self._fresh(url)
        if icon is None:
            if len(self._slots.waiting) >= MAX_WAITING:
                raise NotFound(NO_ICON)
            await self._slots.acquire()
            try:
                # Another request may have fetched it.
                icon = self._fresh(url) or await self._load(url)
            finally:
                self._slots.release()
        if not icon.body:
            raise NotFound(NO_ICON)
        return icon

    def _fresh(self, url: str) -> Icon | None:
        until, icon = self._kept.get(url, (0.0, None))
        return icon if until > self._now() else None

    async def _load(self, url: str) -> Icon:
        try:
            body = await self._fetch(url)
            icon = Icon(media_type(body), body)
        except (BadResponse, DirectoryError):
            icon = Icon("", b"")
        self._keep(url, icon)
        return icon

    def _keep(self, url: str, icon: Icon) -> None:
        self._drop(url)
        self._kept[url] = self._now() + (FRESH if icon.body else FAILED), icon
        self._bytes += len(icon.body)
        while len(self._kept) > MAX_KEPT or self._bytes > MAX_KEPT_BYTES:
            self._drop(next(iter(self._kept)))

    def _drop(self, url: str) -> None:
        if url in self._kept:
            self._bytes -= len(self._kept.pop(url)[1].body)


def icons_of(reactor: Any, lookup: Offload, now: Callable[[], float]) -> Icons:
    """Return the icons of a server. Only public addresses are connected to. `lookup` runs the look-ups of names."""
    network = CheckedNetwork(reactor, CertificatePolicy(), (), lookup, CONNECT)

    async def fetch(url: str) -> bytes:
        agent = CheckedAgent(network)
        try:
            client = DocumentClient(agent, reactor, "icons")
            return await client.get(url, max_bytes=MAX_BYTES, deadline=DEADLINE, accept="image/*")
        finally:
            await agent.close()

    return Icons(fetch, now)
