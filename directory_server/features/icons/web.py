"""The web part of icons: the choice of an icon in the document of an entry, and the route that serves it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import frozen
from twisted.internet.defer import DeferredSemaphore

from ...domain.entries import Entry
from ...domain.errors import DirectoryError, NotFound
from ...domain.ports.runtime import Offload
from ...feature.parts import WebPart
from ...feature.server import Server
from ...http import Request
from ...http_client import BadResponse, CertificatePolicy, CheckedAgent, CheckedNetwork, DocumentClient, target_of
from ...runtime.threads import OwnThreads
from ...web.pages import ASSET_POLICY, ENTRY_IMAGE
from ...web.responses import conditional_response
from ...web.routes import APPS, App
from .settings import IconsConfig

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


MAX_SIDE = 1_024
"""Pixels of a side. A small file can hold a picture that takes gigabytes when a browser shows it."""

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of JPEG with the size of the picture (ITU-T T.81, table B.1)."""


def media_type(body: bytes) -> str:
    """Return the media type of a PNG, GIF, WebP or JPEG. Raises BadResponse if it is none, or has a long side."""
    for name, size in _SIZES.items():
        sides = size(body)
        if sides is not None:
            if not 0 < min(sides) <= max(sides) <= MAX_SIDE:
                raise BadResponse(f"It has no side of 1 to {MAX_SIDE:,} pixels.")
            return name
    raise BadResponse("It is no PNG, GIF, WebP or JPEG.")


def _png(body: bytes) -> tuple[int, int] | None:
    """Return the sides in the first chunk (PNG, third edition, section 11.2.1)."""
    if body[:8] != b"\x89PNG\r\n\x1a\n" or body[12:16] != b"IHDR" or len(body) < 24:
        return None
    return _big(body[16:20]), _big(body[20:24])


def _gif(body: bytes) -> tuple[int, int] | None:
    """Return the sides of the screen (GIF89a, section 18)."""
    if body[:6] not in (b"GIF87a", b"GIF89a") or len(body) < 10:
        return None
    return _little(body[6:8]), _little(body[8:10])


def _webp(body: bytes) -> tuple[int, int] | None:
    """Return the sides of one of the three kinds of WebP (RFC 9649, sections 2.5 to 2.7)."""
    if body[:4] != b"RIFF" or body[8:12] != b"WEBP" or len(body) < 30:
        return None
    kind = body[12:16]
    if kind == b"VP8X":
        return _little(body[24:27]) + 1, _little(body[27:30]) + 1
    if kind == b"VP8 " and body[23:26] == b"\x9d\x01\x2a":
        return _little(body[26:28]) & 0x3FFF, _little(body[28:30]) & 0x3FFF
    if kind == b"VP8L" and body[20] == 0x2F:
        bits = _little(body[21:25])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return None


def _jpeg(body: bytes) -> tuple[int, int] | None:
    """Return the sides in the header of the frame (ITU-T T.81, sections B.1.1 and B.2.2)."""
    if body[:3] != b"\xff\xd8\xff":
        return None
    at = 2
    while len(body) >= at + 9 and body[at] == 0xFF:
        if body[at + 1] in _FRAMES:
            return _big(body[at + 7 : at + 9]), _big(body[at + 5 : at + 7])
        # The length of a segment has its own two bytes, so each step goes on.
        at += 2 + max(_big(body[at + 2 : at + 4]), 2)
    return None


def _big(digits: bytes) -> int:
    return int.from_bytes(digits, "big")


def _little(digits: bytes) -> int:
    return int.from_bytes(digits, "little")


_SIZES: Mapping[str, Callable[[bytes], tuple[int, int] | None]] = {
    "image/png": _png,
    "image/gif": _gif,
    "image/webp": _webp,
    "image/jpeg": _jpeg,
}


PATH = "/icons/"

MAX_ICONS = 8
"""Icons of a document that are looked at."""

_OTHER_TYPES = (".svg", ".ico")
"""Endings of files that are not served: an SVG is a document with links of its own, an ICO holds images of any size."""


def run(server: Server) -> None:
    """Add the icons to pages."""
    server.set(ENTRY_IMAGE, image_path)


def image_path(entry: Entry) -> str:
    """Return the path at which this server serves the icon of an entry, empty if it has none."""
    return PATH + entry.mcp_id if icon_url(entry) else ""


def icon_url(entry: Entry) -> str:
    """Return the https URL of the first icon that may be a picture for light pages, empty if there is none.

    The form of `icons` is that of the server.json schema: objects with `src`, `mimeType`, `sizes` and `theme`.
    """
    icons = entry.server.get("icons")
    for icon in icons[:MAX_ICONS] if isinstance(icons, list) else ():
        if isinstance(icon, Mapping) and icon.get("theme") != "dark":
            url = icon.get("src")
            if isinstance(url, str) and url.startswith("https://") and icon.get("mimeType") != "image/svg+xml":
                picture = _picture_url(url)
                if picture:
                    return picture
    return ""


def _picture_url(url: str) -> str:
    """Return `url` with its host in ASCII, empty if it is invalid or the file is no picture."""
    try:
        target = target_of(url).url
    except DirectoryError:
        return ""
    return "" if target.partition("?")[0].lower().endswith(_OTHER_TYPES) else target


_DAY = "private, max-age=86400"


@frozen
class IconHandlers:
    """Serves icons to those who may see the pages. `icons` is None where icons are not fetched."""

    app = App()

    _server: Server
    _icons: Icons | None

    @app.get(PATH + "{mcp_id}")
    async def get(self, request: Request, mcp_id: str) -> bytes:
        """Return the icon of the entry `mcp_id`. Raises NotFound."""
        await self._server.access.authenticate(request)
        url = icon_url(await self._server.catalogue.of(request).entry(mcp_id)) if self._icons is not None else ""
        if self._icons is None or not url:
            raise NotFound(NO_ICON)
        icon = await self._icons.get(url)
        request.setHeader("Content-Security-Policy", ASSET_POLICY)
        request.setHeader("Cross-Origin-Resource-Policy", "same-origin")
        return conditional_response(request, icon.body, _DAY, **{"Content-Type": icon.media_type})


def _serve(server: Server) -> None:
    icons = None
    if server.config.of(IconsConfig).fetch:
        # Entries name the hosts. A slow look-up outlives its deadline, so it must not take a thread of the reactor.
        lookup = OwnThreads(server.reactor, limit=CONCURRENCY, waiting=MAX_WAITING)
        icons = icons_of(server.reactor, lookup, server.now)
    server.add(APPS, IconHandlers(server, icons).app)


PART = WebPart(serve=_serve)
